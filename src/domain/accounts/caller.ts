export const roles = ['admin', 'developer', 'member'] as const;
export type Role = (typeof roles)[number];

/** The account behind a session or an API key, as it is at this moment. */
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
  /** The last noted use of the credential, to the minute. */
  readonly lastUsedAt: Date | null;
}

/** The master key: an admin operator without an account and without a team. */
interface MasterCaller {
  readonly kind: 'master';
}

/** The caller of a request, known by its credential alone. */
export type Caller = AccountCaller | MasterCaller;
export const callerKinds = ['session', 'api_key', 'master'] as const satisfies readonly Caller['kind'][];
export type CallerKind = (typeof callerKinds)[number];
