import { injectable } from 'inversify';
import { AuditService } from '../../../application/audit/audit.service.js';
import { AuditEntry, actorKinds } from '../../../domain/audit/audit-entry.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { paged, pageOf } from '../paging.js';
import { dateOf, seconds } from '../schemas.js';
import * as contracts from './audit.contract.js';

@injectable()
export class AuditController implements Controller {
  readonly routes = [
    route(contracts.listAudit, async ({ caller, query }) => {
      const { action = null, object = null, from, to } = query;
      const found = await this.audit.list({
        by: caller,
        actor: actorOf(query.actor),
        action,
        objectId: object,
        from: from === undefined ? null : dateOf(from),
        to: to === undefined ? null : dateOf(to),
        page: pageOf(query),
      });
      const { items, ...page } = paged(found, query);
      return { entries: items.map(entryAnswer), ...page };
    }),
  ];

  constructor(private readonly audit: AuditService) {}
}

function actorOf(text: string | undefined) {
  if (text === undefined) return null;
  const kind = actorKinds.find((one) => one === text);
  return kind ? { kind } : { id: text };
}

type Answer = AnswerOf<typeof contracts.listAudit>['entries'][number];

const entryAnswer = ({ actor, ...entry }: AuditEntry): Answer => ({
  id: entry.id,
  created_at: seconds(entry.createdAt),
  actor: { kind: actor.kind, id: actor.id, name: actor.name, credential_id: actor.credentialId },
  action: entry.action,
  object: { kind: AuditEntry.objectKind(entry), id: entry.objectId, name: entry.objectName },
  team_id: entry.teamId,
  request_id: entry.requestId,
  details: entry.details as Answer['details'],
});
