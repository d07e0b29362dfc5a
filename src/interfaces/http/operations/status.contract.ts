import { z } from 'zod';
import { callerKinds, roles } from '../../../domain/accounts/caller.js';
import { type PermissionName, permissions } from '../../../domain/accounts/permission.js';
import { UserAnswer } from '../accounts/accounts.contract.js';
import { connected, RuntimeAnswer } from '../chat/runtime.contract.js';
import { contractsOf } from '../contract.js';
import { InstanceName, id, namedObject } from '../schemas.js';

const api = contractsOf('Operations');

/** Returns a permission's name as the API writes it: `read_workspace` for `readWorkspace`. */
export const permissionField = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const names = Object.keys(permissions) as PermissionName[];

const Limit = z
  .object({
    limit: z.int(),
    remaining: z.int(),
    window_seconds: z.int(),
    reset_seconds: z.int().describe('Seconds until more calls remain. 0 if all remain.'),
  })
  .meta({ id: 'Limit', example: { limit: 120, remaining: 117, window_seconds: 60, reset_seconds: 3 } });

export const status = api.get('/v1/status', {
  id: 'readStatus',
  summary: 'Read your role, your permissions, your limits and your runtimes',
  description: 'Lists the runtimes of the newest 1000 projects of the team, newest first.',
  access: permissions.readStatus,
  answer: namedObject('Status', {
    instance: InstanceName,
    caller: z.object({
      kind: z.enum(callerKinds),
      user: UserAnswer.nullable().describe('Null for the master key.'),
      team: z
        .object({ id: z.string().meta({ example: 'tea_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11' }) })
        .nullable()
        .describe('Null for the master key.'),
      role: z.enum(roles).describe('The role of the account. The master key acts as an admin.'),
      operator: z.boolean().describe('Whether the account belongs to the team that runs this service.'),
      verified: z.boolean().describe('Whether the e-mail is verified.'),
    }),
    permissions: z
      .object(Object.fromEntries(names.map((name) => [permissionField(name), z.boolean()])))
      .describe('Which acts this credential allows.'),
    limits: z.object({
      requests: Limit.describe('The limit of all calls.'),
      auth: Limit.describe('The limit of registrations and logins.'),
    }),
    runtimes: z.array(
      RuntimeAnswer.extend({ project_id: id('prj'), project_name: z.string().meta({ example: 'Capitals' }) }).meta({
        example: {
          ...connected,
          project_id: 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
          project_name: 'Capitals',
        },
      }),
    ),
  }),
});
