import type { Account } from '../accounts/account.js';
import type { AccountCaller, Caller } from '../accounts/caller.js';

/** What is kept of whom. The part before the dot is the kind of the object. */
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
  'runtime.connected',
  'runtime.started',
  'runtime.stopped',
  'runtime.disconnected',
  'deployment.created',
  'deployment.deleted',
  'alert_rule.created',
  'alert_rule.changed',
  'alert_rule.deleted',
  'alert.acknowledged',
  'webhook.created',
  'webhook.deleted',
  'database.migrated',
  'database.backed_up',
  'database.restored',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const actorKinds = ['account', 'master_key', 'command_line'] as const;

/** Who acted, as they were called then: an account and its entries are kept apart. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number];
  /** Of the account; null for the others. */
  readonly id: string | null;
  readonly name: string | null;
  /** The session or API key that the call came with, if it came with one. */
  readonly credentialId: string | null;
  readonly teamId: string | null;
}

const nobody = { id: null, name: null, credentialId: null, teamId: null } as const;

export const Actor = {
  commandLine: { kind: 'command_line', ...nobody } satisfies Actor as Actor,

  /** Somebody who acts on the own account by an e-mail's token or a registration. */
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

/** Small facts about an act: nothing secret, and no content. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** That somebody did something to an object. It outlives both. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly actor: Omit<Actor, 'teamId'>;
  readonly action: AuditAction;
  readonly objectId: string;
  /** As it was called then; null for what has no name. */
  readonly objectName: string | null;
  /** Whose admins may read it; null for what concerns the whole deployment. */
  readonly teamId: string | null;
  /** Null for what no request asked for. */
  readonly requestId: string | null;
  readonly details: AuditDetails;
}

export const AuditEntry = {
  objectKind: ({ action }: Pick<AuditEntry, 'action'>): string => action.slice(0, action.indexOf('.')),
};
