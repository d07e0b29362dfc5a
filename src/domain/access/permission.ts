import type { AccountCaller, Caller } from './caller.js';
import { EmailUnverified, RoleForbidden, SessionRequired, Unauthenticated } from './errors.js';
import { type Role, roles } from './role.js';

/** Which credentials and which roles an act takes. */
export interface Permission {
  readonly takes: readonly AccountCaller['kind'][];
  readonly roles: readonly Role[];
  /** Only for accounts whose e-mail is verified. */
  readonly verified?: true;
}

/** What an account may do: the one table that use cases and routes ask. */
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
} as const satisfies Record<string, Permission>;

/** Throws Unauthenticated, SessionRequired, RoleForbidden or EmailUnverified, in this order. */
export function authorize(caller: Caller | null, permission: Permission): AccountCaller {
  if (!caller) throw new Unauthenticated();
  if (caller.kind === 'master' || !permission.takes.includes(caller.kind)) throw new SessionRequired(caller.kind);
  if (!permission.roles.includes(caller.role)) throw new RoleForbidden(permission.roles);
  if (permission.verified && !caller.emailVerified) throw new EmailUnverified();
  return caller;
}
