import type { DomainError } from '../shared/errors.js';
import { type AccountCaller, type Caller, type CallerKind, callerKinds, type Role, roles } from './caller.js';
import { EmailUnverified, OperatorOnly, RoleForbidden, SessionRequired, Unauthenticated } from './errors.js';

/** The kinds of callers and the roles that may do an action. */
export interface Permission {
  readonly takes: readonly CallerKind[];
  readonly roles: readonly Role[];
  /** Only for accounts with a verified e-mail. */
  readonly verified?: true;
  /** Only for accounts of the operator team. */
  readonly operator?: true;
}

/** The permission for each action. Routes and services check it. */
export const permissions = {
  ownAccount: { takes: ['session'], roles },
  mintKeys: { takes: ['session'], roles, verified: true },
  readTeam: { takes: ['session'], roles },
  manageTeam: { takes: ['session'], roles: ['admin'] },
  readWorkspace: { takes: ['session'], roles },
  editWorkspace: { takes: ['session'], roles: ['admin', 'developer'] },
  deleteProject: { takes: ['session'], roles: ['admin'] },
  ownConversations: { takes: ['session'], roles },
  chat: { takes: ['session', 'api_key'], roles },
  useBudgets: { takes: callerKinds, roles },
  readStatus: { takes: callerKinds, roles },
  readMetrics: { takes: ['master'], roles },
  readJobs: { takes: callerKinds, roles },
  runJobs: { takes: callerKinds, roles: ['admin', 'developer'], verified: true },
  runEvaluations: { takes: ['session', 'api_key'], roles: ['admin', 'developer'], verified: true },
  cancelJobs: { takes: callerKinds, roles: ['admin', 'developer'] },
  readMonitoring: { takes: callerKinds, roles, operator: true },
  readAudit: { takes: callerKinds, roles: ['admin'] },
  manageMonitoring: { takes: callerKinds, roles: ['admin', 'developer'], operator: true },
} as const satisfies Record<string, Permission>;

/** The type of an authorized caller: an account, or any caller if the permission takes the master key. */
export type CallerFor<P extends Permission> = 'master' extends P['takes'][number] ? Caller : AccountCaller;

export type PermissionName = keyof typeof permissions;

/** Tells for each permission whether the caller has it. */
export const permitted = (caller: Caller): Record<PermissionName, boolean> =>
  Object.fromEntries(
    Object.entries(permissions).map(([name, permission]) => [name, denial(caller, permission) === null]),
  ) as Record<PermissionName, boolean>;

/** Lists the permissions that the caller lacks only until the e-mail is verified. */
export const awaitingVerification = (caller: Caller): PermissionName[] =>
  (Object.keys(permissions) as PermissionName[]).filter(
    (name) => denial(caller, permissions[name]) instanceof EmailUnverified,
  );

/**
 * Returns a caller that has the permission. Throws Unauthenticated, SessionRequired, OperatorOnly, RoleForbidden or
 * EmailUnverified, in this order. If the permission takes the master key, the master key needs nothing else.
 */
export function authorize<P extends Permission>(caller: Caller | null, permission: P): CallerFor<P> {
  const reason = denial(caller, permission);
  if (reason) throw reason;
  return caller as CallerFor<P>;
}

/** Returns the error that `authorize` throws, or null if the caller has the permission. */
export function denial(caller: Caller | null, permission: Permission): DomainError | null {
  if (!caller) return new Unauthenticated();
  if (!permission.takes.includes(caller.kind)) return new SessionRequired(caller.kind, permission.takes);
  return caller.kind === 'master' ? null : accountRefusal(caller, permission);
}

function accountRefusal(caller: AccountCaller, permission: Permission): DomainError | null {
  if (permission.operator && !caller.operator) return new OperatorOnly();
  if (!permission.roles.includes(caller.role)) return new RoleForbidden(permission.roles);
  return permission.verified && !caller.emailVerified ? new EmailUnverified() : null;
}
