import { injectable } from 'inversify';
import type { Quota } from '../../../application/operations/ports.js';
import { StatusService } from '../../../application/operations/status.service.js';
import { Instance } from '../../../application/shared/instance.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import { callerAnswer } from '../accounts/accounts.controller.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import * as contracts from './status.contract.js';

type Answer = AnswerOf<typeof contracts.status>;

@injectable()
export class StatusController implements Controller {
  readonly routes = [
    route(contracts.status, async ({ caller, readQuotas }): Promise<Answer> => {
      const { caller: known, may, runtimes } = await this.statuses.read({ by: caller });
      const [requests, auth] = (await readQuotas()) as [Quota, Quota];
      return {
        instance: this.instance.name,
        caller: statusAnswer(known),
        permissions: Object.fromEntries(
          Object.entries(may).map(([name, value]) => [contracts.permissionField(name), value]),
        ),
        limits: { requests: limitAnswer(requests), auth: limitAnswer(auth) },
        runtimes: runtimes.map(({ project: { id, name }, modelId, ...runtime }) => {
          return { project_id: id, project_name: name, model_id: modelId, ...runtime };
        }),
      };
    }),
  ];

  constructor(
    private readonly statuses: StatusService,
    private readonly instance: Instance,
  ) {}
}

function statusAnswer(caller: Caller): Answer['caller'] {
  const { kind } = caller;
  if (kind === 'master') return { kind, user: null, team: null, role: 'admin', operator: true, verified: true };
  const { teamId, role, operator, emailVerified: verified } = caller;
  return { kind, user: callerAnswer(caller), team: { id: teamId }, role, operator, verified };
}

const limitAnswer = ({ limit, remaining, seconds }: Quota): Answer['limits']['auth'] => ({
  limit,
  remaining,
  window_seconds: 60,
  reset_seconds: seconds,
});
