import type { DomainError } from '../shared/errors.js';
import { type AccountCaller, type Caller, type CallerKind, callerKinds, type Role, roles } from './caller.js';
import { EmailUnverified, OperatorOnly, RoleForbidden, SessionRequired, Unauthenticated } from './errors.js';
import { type KeyPermission, KeyRestricted } from './key-restrictions.js';

/** The kinds of callers and the roles that may do an action. */
export interface Permission {
  /** An API key with permissions of its own also enters where this list has no keys, if it has the permission `key`. */
  readonly takes: readonly CallerKind[];
  readonly roles: readonly Role[];
  /** The permission that an API key needs if it has permissions of its own. `any`: each of them. `none`: no key enters. */
  readonly key: KeyPermission | 'any' | 'none';
  /** The use case honours the projects of a key. Without this, a key for some projects does not enter. */
  readonly byProject?: true;
  /** Only for accounts with a verified e-mail. */
  readonly verified?: true;
  /** Only for accounts of the operator team. */
  readonly operator?: true;
}

/** The permission for each action. Routes and services check it. */
export const permissions = {
  ownAccount: { takes: ['session'], roles, key: 'none' },
  mintKeys: { takes: ['session'], roles, key: 'none', verified: true },
  readTeam: { takes: ['session'], roles, key: 'none' },
  manageTeam: { takes: ['session'], roles: ['admin'], key: 'none' },
  readWorkspace: { takes: ['session'], roles, key: 'read', byProject: true },
  editWorkspace: { takes: ['session'], roles: ['admin', 'developer'], key: 'write', byProject: true },
  createProject: { takes: ['session'], roles: ['admin', 'developer'], key: 'write' },
  deleteProject: { takes: ['session'], roles: ['admin'], key: 'write', byProject: true },
  ownConversations: { takes: ['session'], roles, key: 'write', byProject: true },
  deleteCalls: { takes: ['session'], roles, key: 'write', byProject: true },
  chat: { takes: ['session', 'api_key'], roles, key: 'chat', byProject: true },
  predict: { takes: callerKinds, roles, key: 'predict', operator: true },
  useBudgets: { takes: ['session', 'master'], roles, key: 'read', byProject: true },
  changeBudgets: { takes: ['session', 'master'], roles, key: 'write', byProject: true },
  readStatus: { takes: callerKinds, roles, key: 'any', byProject: true },
  readMetrics: { takes: ['master'], roles, key: 'none' },
  readJobs: { takes: callerKinds, roles, key: 'read', byProject: true },
  runJobs: { takes: callerKinds, roles: ['admin', 'developer'], key: 'write', byProject: true, verified: true },
  runEvaluations: {
    takes: ['session', 'api_key'],
    roles: ['admin', 'developer'],
    key: 'write',
    byProject: true,
    verified: true,
  },
  cancelJobs: { takes: callerKinds, roles: ['admin', 'developer'], key: 'write', byProject: true },
  readMonitoring: { takes: callerKinds, roles, key: 'read', operator: true },
  readAudit: { takes: callerKinds, roles: ['admin'], key: 'read' },
  manageMonitoring: { takes: callerKinds, roles: ['admin', 'developer'], key: 'write', operator: true },
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
 * Returns a caller that has the permission. Throws Unauthenticated, SessionRequired, KeyRestricted, OperatorOnly,
 * RoleForbidden or EmailUnverified, in this order. If the permission takes the master key, the master key needs nothing else.
 */
export function authorize<P extends Permission>(caller: Caller | null, permission: P): CallerFor<P> {
  const reason = denial(caller, permission);
  if (reason) throw reason;
  return caller as CallerFor<P>;
}

/** Returns the error that `authorize` throws, or null if the caller has the permission. */
export function denial(caller: Caller | null, permission: Permission): DomainError | null {
  if (!caller) return new Unauthenticated();
  if (!takes(caller, permission)) return new SessionRequired(caller.kind, permission.takes);
  return caller.kind === 'master' ? null : (keyRefusal(caller, permission) ?? accountRefusal(caller, permission));
}

/** An API key with permissions enters all routes that take any key, and `keyRefusal` checks its permissions. */
const takes = (caller: Caller, { takes, key }: Permission): boolean =>
  caller.kind === 'api_key' && caller.restrictions?.permissions ? key !== 'none' : takes.includes(caller.kind);

function keyRefusal({ restrictions }: AccountCaller, { key, byProject }: Permission): DomainError | null {
  const { permissions, projects } = restrictions ?? { permissions: null, projects: null };
  if (permissions && !hasPermission(permissions, key)) return new KeyRestricted(`needs the permission ${key} for this`);
  if (projects && !byProject) return new KeyRestricted('is for some projects, and this is not in one of them');
  return null;
}

/** A caller that may change may also read. */
const hasPermission = (own: readonly KeyPermission[], needed: Permission['key']): boolean =>
  needed === 'any' || own.some((one) => one === needed || (one === 'write' && needed === 'read'));

function accountRefusal(caller: AccountCaller, permission: Permission): DomainError | null {
  if (permission.operator && !caller.operator) return new OperatorOnly();
  if (!permission.roles.includes(caller.role)) return new RoleForbidden(permission.roles);
  return permission.verified && !caller.emailVerified ? new EmailUnverified() : null;
}
