import { injectable } from 'inversify';
import { InviteService, type VisibleInvite } from '../../../application/accounts/invite.service.js';
import { TeamService } from '../../../application/accounts/team.service.js';
import { answerFrom, deleted, hidden, listed } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { userAnswer } from './accounts.controller.js';
import * as contracts from './team.contract.js';

@injectable()
export class TeamController implements Controller {
  readonly routes = [
    route(contracts.listUsers, async ({ caller }) => listed('users', (await this.team.list(caller)).map(userAnswer))),
    route(contracts.changeRole, async ({ caller, params, body }) =>
      userAnswer(await this.team.changeRole(caller, { accountId: params.user_id, role: body.role })),
    ),
    route(contracts.removeUser, ({ caller, params: { user_id: id } }) =>
      deleted(id, this.team.remove(caller, { accountId: id })),
    ),
    route(contracts.listInvites, async ({ caller }) =>
      listed('invites', (await this.invites.list(caller)).map(inviteAnswer)),
    ),
    route(contracts.createInvite, async ({ caller, body: { email = null, role, expires_in: lifetimeSeconds } }) =>
      inviteAnswer(await this.invites.create(caller, { email, role, lifetimeSeconds })),
    ),
    route(contracts.revokeInvite, ({ caller, params: { invite_id: id } }) =>
      deleted(id, this.invites.revoke(caller, { id })),
    ),
    route(contracts.lookUpInvite, async ({ params }) => {
      const { invite, inviterName } = await this.invites.lookUp(params);
      return { ...inviteAnswer(invite), invited_by_name: inviterName };
    }),
  ];

  readonly exists: Existence<'user_id'> = {
    user_id: ({ caller, params }) => this.team.read(caller, { accountId: params.user_id }),
  };

  constructor(
    private readonly team: TeamService,
    private readonly invites: InviteService,
  ) {}
}

const inviteAnswer = (invite: VisibleInvite) =>
  answerFrom(contracts.createInvite.answer, invite, { team_id: hidden, digest: hidden, status: hidden });
