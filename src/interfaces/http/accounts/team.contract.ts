import { z } from 'zod';
import { roles } from '../../../domain/accounts/caller.js';
import { InviteNotFound } from '../../../domain/accounts/errors.js';
import { inviteLifetime } from '../../../domain/accounts/invite.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { listOf } from '../paging.js';
import { AccountId, Deleted, id, namedObject, secret, Timestamp, textLike, wholeNumber } from '../schemas.js';
import { Email, UserAnswer } from './accounts.contract.js';

const api = contractsOf('Team accounts');
const Role = z.enum(roles, { error: `must be one of ${roles.join(', ')}` });

const InviteAnswer = namedObject('Invite', {
  id: id('inv'),
  email: textLike(
    'grace@example.com',
    'The only address that may redeem the invite. Null: anyone may, once.',
  ).nullable(),
  invited_by: AccountId,
  token: secret('tni').nullable().describe('Null unless an admin reads it.'),
  role: Role,
  created_at: Timestamp,
  expires_at: Timestamp,
});

export const listUsers = api.get('/v1/auth/users', {
  id: 'listUsers',
  summary: 'List the accounts of your team, oldest first',
  access: permissions.readTeam,
  answer: listOf('users', UserAnswer, 'Roster'),
});

export const changeRole = api.patch('/v1/auth/users/{user_id}/role', {
  id: 'changeRole',
  summary: 'Change the role of an account of your team',
  access: permissions.manageTeam,
  body: namedObject('RoleChange', { role: Role }),
  answer: UserAnswer,
  refusals: ['last_admin'],
});

export const removeUser = api.delete('/v1/auth/users/{user_id}', {
  id: 'removeUser',
  summary: 'Remove an account of your team',
  description: 'Ends all credentials of the account at once, and no longer counts it for the limit of accounts.',
  access: permissions.manageTeam,
  answer: Deleted,
  refusals: ['last_admin'],
});

export const listInvites = api.get('/v1/auth/invites', {
  id: 'listInvites',
  summary: 'List the pending invites of your team, newest first',
  access: permissions.readTeam,
  answer: listOf('invites', InviteAnswer, 'Invites'),
});

export const createInvite = api.post('/v1/auth/invites', {
  id: 'createInvite',
  summary: 'Create an invite',
  description:
    'Sends no e-mail. Hand out the link `{base_url}/auth?invite={token}` yourself. A team has at most 1000 pending invites.',
  access: permissions.manageTeam,
  body: namedObject('InviteCreation', {
    email: Email.nullish().meta({
      description: 'Only this address may redeem the invite. Without one, anyone may, once.',
      example: 'grace@example.com',
    }),
    role: Role.default('member'),
    expires_in: wholeNumber(1, inviteLifetime.longest)
      .optional()
      .describe(`Seconds, 1 to ${inviteLifetime.longest}. The default is ${inviteLifetime.usual} (14 days).`),
  }),
  bodyOptional: true,
  status: 201,
  answer: InviteAnswer,
});

export const revokeInvite = api.delete('/v1/auth/invites/{invite_id}', {
  id: 'revokeInvite',
  summary: 'Revoke a pending invite',
  access: permissions.manageTeam,
  answer: Deleted,
  missing: () => new InviteNotFound(),
  refusals: ['invite_not_found', 'invite_redeemed', 'invite_revoked', 'invite_expired'],
});

export const lookUpInvite = api.get('/v1/auth/invites/lookup/{token}', {
  id: 'lookUpInvite',
  summary: 'Look up an invite by its token, for the sign-up page',
  access: 'public',
  answer: InviteAnswer.extend({ invited_by_name: textLike('Ada Lovelace').nullable() }).meta({
    id: 'InviteLookup',
  }),
  missing: () => new InviteNotFound(),
  refusals: ['invite_not_found', 'invite_redeemed', 'invite_revoked', 'invite_expired'],
});
