import type { Account } from '../accounts/account.js';
import type { AccountCaller, Caller } from '../accounts/caller.js';

/** Lists the audited actions. The part before the dot is the kind of the object. */
export const auditActions = [
  'account.registered',
  'account.email_verified',
  'account.changed',
  'account.role_changed',
  'account.password_changed',
  'account.password_reset',
  'account.sessions_revoked',
  'account.removed',
  'api_key.minted',
  'api_key.changed',
  'api_key.revoked',
  'session.revoked',
  'invite.created',
  'invite.revoked',
  'project.deleted',
  'dataset.frozen',
  'dataset.deleted',
  'model.registered',
  'model.deleted',
  'model_alias.moved',
  'model_alias.deleted',
  'call.deleted',
  'runtime.connected',
  'runtime.started',
  'runtime.stopped',
  'runtime.disconnected',
  'deployment.created',
  'deployment.deleted',
  'budget.created',
  'budget.changed',
  'budget.deleted',
  'alert_rule.created',
  'alert_rule.changed',
  'alert_rule.deleted',
  'alert.acknowledged',
  'webhook.created',
  'webhook.deleted',
  'webhook.alert_sent_again',
  'database.migrated',
  'database.backed_up',
  'database.restored',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const actorKinds = ['account', 'master_key', 'command_line'] as const;

/** The actor of an action. The data is copied at the time of the action, so it stays when the account is removed. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number];
  /** The id of the account. Null for other kinds. */
  readonly id: string | null;
  readonly name: string | null;
  /** The session or API key of the call. Null without one. */
  readonly credentialId: string | null;
  readonly teamId: string | null;
}

const nobody = { id: null, name: null, credentialId: null, teamId: null } as const;

export const Actor = {
  commandLine: { kind: 'command_line', ...nobody } satisfies Actor as Actor,

  /** Returns the actor for an action without a credential: a registration, or the use of a link from an e-mail. */
  self: ({ id, name, teamId }: Pick<Account, 'id' | 'name' | 'teamId'>): Actor => ({
    kind: 'account',
    id,
    name,
    credentialId: null,
    teamId,
  }),

  of: (caller: Caller): Actor => (caller.kind === 'master' ? { kind: 'master_key', ...nobody } : ofAccount(caller)),
};

const ofAccount = ({ accountId, accountName, credentialId, teamId }: AccountCaller): Actor => ({
  kind: 'account',
  id: accountId,
  name: accountName,
  credentialId,
  teamId,
});

/** Small facts about an action. They must not contain secrets or content. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Records one action on an object. An entry stays after its object or its actor is deleted. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly actor: Omit<Actor, 'teamId'>;
  readonly action: AuditAction;
  readonly objectId: string;
  /** The object's name at that time. Null for an object without one. */
  readonly objectName: string | null;
  /** The admins of this team may read the entry. Null if the entry belongs to no team. */
  readonly teamId: string | null;
  /** The id of the request. Null: the action had none. */
  readonly requestId: string | null;
  readonly details: AuditDetails;
}

export const AuditEntry = {
  objectKind: ({ action }: Pick<AuditEntry, 'action'>): string => action.slice(0, action.indexOf('.')),
};
