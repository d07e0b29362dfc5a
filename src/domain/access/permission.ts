import { type AccountCaller, type Caller, type CallerKind, callerKinds } from './caller.js';
import { EmailUnverified, OperatorOnly, RoleForbidden, SessionRequired, Unauthenticated } from './errors.js';
import { type Role, roles } from './role.js';

/** Which credentials and which roles an act takes. */
export interface Permission {
  readonly takes: readonly CallerKind[];
  readonly roles: readonly Role[];
  /** Only for accounts whose e-mail is verified. */
  readonly verified?: true;
  /** Only for accounts of the operator team. */
  readonly operator?: true;
}

/** What a caller may do: the one table that use cases and routes ask. */
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
  readJobs: { takes: callerKinds, roles },
  runJobs: { takes: callerKinds, roles: ['admin', 'developer'], verified: true },
  cancelJobs: { takes: callerKinds, roles: ['admin', 'developer'] },
  readMonitoring: { takes: callerKinds, roles, operator: true },
  manageMonitoring: { takes: callerKinds, roles: ['admin', 'developer'], operator: true },
} as const satisfies Record<string, Permission>;

/** Only where the master key is taken may there be no account behind the call. */
export type CallerFor<P extends Permission> = 'master' extends P['takes'][number] ? Caller : AccountCaller;

/**
 * Throws Unauthenticated, SessionRequired, OperatorOnly, RoleForbidden or EmailUnverified, in this order. The master key,
 * where it is taken, is an admin operator.
 */
export function authorize<P extends Permission>(caller: Caller | null, permission: P): CallerFor<P> {
  if (!caller) throw new Unauthenticated();
  if (!permission.takes.includes(caller.kind)) throw new SessionRequired(caller.kind);
  if (caller.kind !== 'master') checkAccount(caller, permission);
  return caller as CallerFor<P>;
}

function checkAccount(caller: AccountCaller, permission: Permission): void {
  if (permission.operator && !caller.operator) throw new OperatorOnly();
  if (!permission.roles.includes(caller.role)) throw new RoleForbidden(permission.roles);
  if (permission.verified && !caller.emailVerified) throw new EmailUnverified();
}
