import type { ConnectRuntime } from '../../../application/chat/connect-runtime.js';
import type { DisconnectRuntime } from '../../../application/chat/disconnect-runtime.js';
import type { ReadRuntime } from '../../../application/chat/read-runtime.js';
import type { SwitchRuntime } from '../../../application/chat/switch-runtime.js';
import type { ProjectRuntime } from '../../../domain/chat/runtime.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import * as contracts from './runtime.contract.js';

export class RuntimeController implements Controller {
  readonly routes = [
    route(contracts.readRuntime, async ({ caller, params }) =>
      runtimeAnswer(await this.readRuntime.execute({ by: caller, projectId: params.project_id })),
    ),
    route(
      contracts.connectRuntime,
      async ({ caller, params, body }) => {
        const input = { by: caller, projectId: params.project_id, modelId: body.model_id };
        return runtimeAnswer(await this.connectRuntime.execute(input));
      },
      ({ caller, params }) => this.readRuntime.execute({ by: caller, projectId: params.project_id }),
    ),
    route(contracts.startRuntime, async ({ caller, params }) =>
      runtimeAnswer(await this.switchRuntime.execute({ by: caller, projectId: params.project_id, wanted: 'started' })),
    ),
    route(contracts.stopRuntime, async ({ caller, params }) =>
      runtimeAnswer(await this.switchRuntime.execute({ by: caller, projectId: params.project_id, wanted: 'stopped' })),
    ),
    route(contracts.disconnectRuntime, async ({ caller, params }) => {
      const runtime = await this.disconnectRuntime.execute({ by: caller, projectId: params.project_id });
      return { id: params.project_id, deleted: true as const, ...runtimeAnswer(runtime) };
    }),
  ];

  constructor(
    private readonly readRuntime: ReadRuntime,
    private readonly connectRuntime: ConnectRuntime,
    private readonly switchRuntime: SwitchRuntime,
    private readonly disconnectRuntime: DisconnectRuntime,
  ) {}
}

export const runtimeAnswer = ({ state, modelId, reason }: ProjectRuntime): AnswerOf<typeof contracts.readRuntime> => ({
  state,
  model_id: modelId,
  reason,
});
