import { injectable } from 'inversify';
import { AuditService } from '../../../application/audit/audit.service.js';
import { AuditEntry, actorKinds } from '../../../domain/audit/audit-entry.js';
import { answerFrom, hidden, paged } from '../answers.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { onePage, pageOf } from '../paging.js';
import * as contracts from './audit.contract.js';

@injectable()
export class AuditController implements Controller {
  readonly routes = [
    route(contracts.listAudit, async ({ caller, query }) => {
      const { action = null, object = null, from = null, to = null, q } = query;
      const found = await this.audit.list(caller, {
        actor: actorOf(query.actor),
        action,
        objectId: object,
        from,
        to,
        q,
        page: pageOf(query),
      });
      return paged('entries', onePage(found, query), entryAnswer);
    }),
  ];

  constructor(private readonly audit: AuditService) {}
}

function actorOf(text: string | undefined) {
  if (text === undefined) return null;
  const kind = actorKinds.find((one) => one === text);
  return kind ? { kind } : { id: text };
}

const entryAnswer = (entry: AuditEntry) => {
  const { kind, id, name, credentialId } = entry.actor;
  return answerFrom(contracts.AuditEntryAnswer, entry, {
    actor: { kind, id, name, credential_id: credentialId },
    object: { kind: AuditEntry.objectKind(entry), id: entry.objectId, name: entry.objectName },
    details: entry.details as AnswerOf<typeof contracts.listAudit>['entries'][number]['details'],
    object_id: hidden,
    object_name: hidden,
  });
};
