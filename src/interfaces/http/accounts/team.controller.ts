import { injectable } from 'inversify';
import { InviteService, type VisibleInvite } from '../../../application/accounts/invite.service.js';
import { TeamService } from '../../../application/accounts/team.service.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import { userAnswer } from './accounts.controller.js';
import * as contracts from './team.contract.js';

/** The accounts of the caller's team and its invites. */
@injectable()
export class TeamController implements Controller {
  readonly routes = [
    route(contracts.listUsers, async ({ caller }) => {
      const users = (await this.team.list(caller)).map(userAnswer);
      return { users, count: users.length };
    }),
    route(
      contracts.changeRole,
      async ({ caller, params, body }) => userAnswer(await this.team.changeRole(caller, params.user_id, body.role)),
      ({ caller, params }) => this.team.read(caller, params.user_id),
    ),
    route(contracts.removeUser, async ({ caller, params: { user_id: id } }) => {
      await this.team.remove(caller, id);
      return deleted(id);
    }),
    route(contracts.listInvites, async ({ caller }) => {
      const invites = (await this.invites.list(caller)).map(inviteAnswer);
      return { invites, count: invites.length };
    }),
    route(contracts.createInvite, async ({ caller, body: { email = null, role, expires_in: lifetimeSeconds } }) =>
      inviteAnswer(await this.invites.create(caller, { email, role, lifetimeSeconds })),
    ),
    route(contracts.revokeInvite, async ({ caller, params: { invite_id: id } }) => {
      await this.invites.revoke(caller, id);
      return deleted(id);
    }),
    route(contracts.lookUpInvite, async ({ params }) => {
      const { invite, inviterName } = await this.invites.lookUp(params.token);
      return { ...inviteAnswer(invite), invited_by_name: inviterName };
    }),
  ];

  constructor(
    private readonly team: TeamService,
    private readonly invites: InviteService,
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
