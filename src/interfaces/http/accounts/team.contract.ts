import { z } from 'zod';
import { roles } from '../../../domain/accounts/caller.js';
import { InviteNotFound } from '../../../domain/accounts/errors.js';
import { inviteLifetime } from '../../../domain/accounts/invite.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { AccountId, Deleted, id, listOf, secret, Timestamp, wholeNumber } from '../schemas.js';
import { Email } from './account-fields.js';
import { UserAnswer } from './accounts.contract.js';

const tag = 'Team accounts';
const Role = z.enum(roles, { error: `must be one of ${roles.join(', ')}` });

const InviteAnswer = z
  .object({
    id: id('inv'),
    email: z.string().nullable().meta({
      description: 'The only address that may redeem the invite. Null: anyone may, once.',
      example: 'grace@example.com',
    }),
    invited_by: AccountId,
    token: secret('tni').nullable().meta({ description: 'Null unless an admin reads it.' }),
    role: Role,
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Invite' });

export const listUsers = contract({
  id: 'listUsers',
  method: 'get',
  path: '/v1/auth/users',
  tag,
  summary: 'List the accounts of your team, oldest first',
  access: permissions.readTeam,
  answer: listOf('users', UserAnswer, 'Roster'),
});

export const changeRole = contract({
  id: 'changeRole',
  method: 'patch',
  path: '/v1/auth/users/{user_id}/role',
  tag,
  summary: 'Change the role of an account of your team',
  access: permissions.manageTeam,
  body: z.object({ role: Role }).meta({ id: 'RoleChange' }),
  answer: UserAnswer,
  refusals: ['last_admin'],
});

export const removeUser = contract({
  id: 'removeUser',
  method: 'delete',
  path: '/v1/auth/users/{user_id}',
  tag,
  summary: 'Remove an account of your team',
  description: 'Ends all credentials of the account at once and frees its place under the cap.',
  access: permissions.manageTeam,
  answer: Deleted,
  refusals: ['last_admin'],
});

export const listInvites = contract({
  id: 'listInvites',
  method: 'get',
  path: '/v1/auth/invites',
  tag,
  summary: 'List the pending invites of your team, newest first',
  access: permissions.readTeam,
  answer: listOf('invites', InviteAnswer, 'Invites'),
});

export const createInvite = contract({
  id: 'createInvite',
  method: 'post',
  path: '/v1/auth/invites',
  tag,
  summary: 'Create an invite',
  description: 'Sends no e-mail. Hand out the link `{base_url}/auth?invite={token}` yourself.',
  access: permissions.manageTeam,
  body: z
    .object({
      email: Email.nullish().meta({
        description: 'Only this address may redeem the invite. Without one, anyone may, once.',
        example: 'grace@example.com',
      }),
      role: Role.default('member'),
      expires_in: wholeNumber(1, inviteLifetime.longest)
        .optional()
        .meta({
          description: `Seconds, 1 to ${inviteLifetime.longest}. The default is ${inviteLifetime.usual} (14 days).`,
        }),
    })
    .meta({ id: 'InviteCreation' }),
  bodyOptional: true,
  status: 201,
  answer: InviteAnswer,
});

export const revokeInvite = contract({
  id: 'revokeInvite',
  method: 'delete',
  path: '/v1/auth/invites/{invite_id}',
  tag,
  summary: 'Revoke a pending invite',
  access: permissions.manageTeam,
  answer: Deleted,
  missing: () => new InviteNotFound(),
  refusals: ['invite_not_found', 'invite_redeemed', 'invite_revoked', 'invite_expired'],
});

export const lookUpInvite = contract({
  id: 'lookUpInvite',
  method: 'get',
  path: '/v1/auth/invites/lookup/{token}',
  tag,
  summary: 'Look up an invite by its token, for the sign-up page',
  access: 'public',
  answer: InviteAnswer.extend({ invited_by_name: z.string().nullable().meta({ example: 'Ada Lovelace' }) }).meta({
    id: 'InviteLookup',
  }),
  missing: () => new InviteNotFound(),
  refusals: ['invite_not_found', 'invite_redeemed', 'invite_revoked', 'invite_expired'],
});
