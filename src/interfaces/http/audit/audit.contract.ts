import { z } from 'zod';
import { MOST_SEARCHED } from '../../../application/shared/bounded-page.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { actorKinds, auditActions } from '../../../domain/audit/audit-entry.js';
import { contractsOf } from '../contract.js';
import { Page, pageOfList, SearchText } from '../paging.js';
import { AccountId, id, namedObject, secondsText, Timestamp, textLike } from '../schemas.js';

const api = contractsOf('Operations');

const kinds = [...new Set(auditActions.map((action) => action.slice(0, action.indexOf('.'))))];
const wordsOf = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ');
const word = () => z.string().regex(/^[\w.:-]{1,100}$/, { error: 'is not a value that an entry can have here' });

export const AuditEntryAnswer = namedObject('AuditEntry', {
  id: id('aud'),
  created_at: Timestamp,
  actor: z.object({
    kind: z.enum(actorKinds),
    id: AccountId.nullable().describe('Null unless an account acted.'),
    name: textLike('Ada Lovelace', 'The name of the account at that time.').nullable(),
    credential_id: id('ses').nullable().meta({
      pattern: '^(ses|key)_',
      description: 'The session or API key of the call.',
    }),
  }),
  action: z.enum(auditActions),
  object: z.object({
    kind: textLike('account'),
    id: textLike(
      'usr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
      'The id of the object. For a runtime or an alias, the id of its project.',
    ),
    name: textLike('Ada Lovelace', 'The name of the object at that time.').nullable(),
  }),
  team_id: id('tea').nullable().describe('Null if the act concerns the whole deployment.'),
  request_id: textLike(
    'req_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
    'The same as in `X-Request-Id` and in the log.',
  ).nullable(),
  details: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .meta({ description: 'A few facts about the act.', example: { role: 'admin' } }),
});

export const listAudit = api.get('/v1/audit', {
  id: 'listAudit',
  summary: 'List who did what, newest first',
  description:
    'Admins read the entries of their own team. Admins of the operator team also read those of the whole deployment, and ' +
    'the master key reads all. Entries are never changed, and they outlive the objects that they name.',
  access: permissions.readAudit,
  query: Page.extend({
    actor: word()
      .optional()
      .describe(`The id of an account, or one of ${wordsOf(actorKinds)}.`),
    action: z
      .enum([...auditActions, ...kinds], { error: 'must be an action, or the kind of object before its dot' })
      .optional()
      .describe(`An action, or the part before its dot: ${wordsOf(kinds)}.`),
    object: word().optional().describe('The id of an object.'),
    from: secondsText().optional().describe('Seconds since the epoch. Only entries from then on.'),
    to: secondsText().optional().describe('Seconds since the epoch. Only entries before then.'),
    q: SearchText.optional().describe(
      `Only entries with this text in the name of the actor or the object, in upper or lower case, among the newest ${MOST_SEARCHED} that fit the other filters.`,
    ),
  }),
  answer: pageOfList('entries', AuditEntryAnswer, 'Audit'),
});
