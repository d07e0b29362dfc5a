import { injectable } from 'inversify';
import { ChangeRole } from '../../../application/accounts/change-role.js';
import { CreateInvite } from '../../../application/accounts/create-invite.js';
import { ListAccounts } from '../../../application/accounts/list-accounts.js';
import { ListInvites, type VisibleInvite } from '../../../application/accounts/list-invites.js';
import { LookUpInvite } from '../../../application/accounts/look-up-invite.js';
import { RemoveAccount } from '../../../application/accounts/remove-account.js';
import { RevokeInvite } from '../../../application/accounts/revoke-invite.js';
import { memberOf } from '../../../application/accounts/team-members.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import { userAnswer } from './accounts.controller.js';
import * as contracts from './team.contract.js';

/** Who is on the team, and who is invited. */
@injectable()
export class TeamController implements Controller {
  readonly routes = [
    route(contracts.listUsers, async ({ caller }) => {
      const users = (await this.listAccounts.execute({ by: caller })).map(userAnswer);
      return { users, count: users.length };
    }),
    route(
      contracts.changeRole,
      async ({ caller, params, body: { role } }) =>
        userAnswer(await this.changeRole.execute({ by: caller, accountId: params.user_id, role })),
      async ({ caller, params }) => memberOf(await this.listAccounts.execute({ by: caller }), params.user_id),
    ),
    route(contracts.removeUser, async ({ caller, params: { user_id: accountId } }) => {
      await this.removeAccount.execute({ by: caller, accountId });
      return deleted(accountId);
    }),
    route(contracts.listInvites, async ({ caller }) => {
      const invites = (await this.listInvites.execute({ by: caller })).map(inviteAnswer);
      return { invites, count: invites.length };
    }),
    route(contracts.createInvite, async ({ caller, body: { email = null, role, expires_in: lifetimeSeconds } }) =>
      inviteAnswer(await this.createInvite.execute({ by: caller, email, role, lifetimeSeconds })),
    ),
    route(contracts.revokeInvite, async ({ caller, params: { invite_id: inviteId } }) => {
      await this.revokeInvite.execute({ by: caller, inviteId });
      return deleted(inviteId);
    }),
    route(contracts.lookUpInvite, async ({ params }) => {
      const { invite, inviterName } = await this.lookUpInvite.execute({ token: params.token });
      return { ...inviteAnswer(invite), invited_by_name: inviterName };
    }),
  ];

  constructor(
    private readonly listAccounts: ListAccounts,
    private readonly changeRole: ChangeRole,
    private readonly removeAccount: RemoveAccount,
    private readonly listInvites: ListInvites,
    private readonly createInvite: CreateInvite,
    private readonly revokeInvite: RevokeInvite,
    private readonly lookUpInvite: LookUpInvite,
  ) {}
}

const inviteAnswer = (invite: VisibleInvite): AnswerOf<typeof contracts.createInvite> => ({
  id: invite.id,
  email: invite.email,
  invited_by: invite.invitedBy,
  token: invite.token,
  role: invite.role,
  created_at: seconds(invite.createdAt),
  expires_at: seconds(invite.expiresAt),
});
