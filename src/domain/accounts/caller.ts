import type { KeyRestrictions } from './key-restrictions.js';

export const roles = ['admin', 'developer', 'member'] as const;
export type Role = (typeof roles)[number];

/** The account behind a session or an API key. It is read again for each request. */
export interface AccountCaller {
  readonly kind: 'session' | 'api_key';
  readonly credentialId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly email: string;
  readonly alertEmails: boolean;
  /** The time of the registration. */
  readonly createdAt: Date;
  readonly teamId: string;
  readonly role: Role;
  /** True for accounts of the operator team. */
  readonly operator: boolean;
  readonly emailVerified: boolean;
  /** The last stored use of the credential. At most one use in a minute is stored. */
  readonly lastUsedAt: Date | null;
  /** The restrictions of the key. Null: it has none, or the credential is a session. */
  readonly restrictions: KeyRestrictions | null;
}

/** The holder of the master key: operates the service without an account and without a team. */
interface MasterCaller {
  readonly kind: 'master';
}

export type Caller = AccountCaller | MasterCaller;
export const callerKinds = ['session', 'api_key', 'master'] as const satisfies readonly Caller['kind'][];
export type CallerKind = (typeof callerKinds)[number];
