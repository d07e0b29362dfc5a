import { injectable } from 'inversify';
import type { z } from 'zod';
import { ConnectRuntime } from '../../../application/chat/connect-runtime.js';
import { DisconnectRuntime } from '../../../application/chat/disconnect-runtime.js';
import { ReadRuntime } from '../../../application/chat/read-runtime.js';
import { SwitchRuntime } from '../../../application/chat/switch-runtime.js';
import { Ownership } from '../../../application/processes/ownership.js';
import type { ProjectRuntime } from '../../../domain/chat/runtime.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import * as contracts from './runtime.contract.js';

@injectable()
export class RuntimeController implements Controller {
  readonly routes = [
    route(contracts.readRuntime, async ({ caller, params }) =>
      this.placed(await this.readRuntime.execute({ by: caller, projectId: params.project_id })),
    ),
    route(
      contracts.connectRuntime,
      async ({ caller, params, body }) => {
        const input = { by: caller, projectId: params.project_id, modelId: body.model_id };
        return this.placed(await this.connectRuntime.execute(input));
      },
      ({ caller, params }) => this.readRuntime.execute({ by: caller, projectId: params.project_id }),
    ),
    route(contracts.startRuntime, async ({ caller, params }) =>
      this.placed(await this.switchRuntime.execute({ by: caller, projectId: params.project_id, wanted: 'started' })),
    ),
    route(contracts.stopRuntime, async ({ caller, params }) =>
      this.placed(await this.switchRuntime.execute({ by: caller, projectId: params.project_id, wanted: 'stopped' })),
    ),
    route(contracts.disconnectRuntime, async ({ caller, params }) => {
      const runtime = await this.disconnectRuntime.execute({ by: caller, projectId: params.project_id });
      return { id: params.project_id, deleted: true as const, ...(await this.placed(runtime)) };
    }),
  ];

  constructor(
    private readonly ownership: Ownership,
    private readonly readRuntime: ReadRuntime,
    private readonly connectRuntime: ConnectRuntime,
    private readonly switchRuntime: SwitchRuntime,
    private readonly disconnectRuntime: DisconnectRuntime,
  ) {}

  private async placed(runtime: ProjectRuntime): Promise<AnswerOf<typeof contracts.readRuntime>> {
    return { ...runtimeAnswer(runtime), process: await this.ownership.nameOf(runtime.process ?? null) };
  }
}

export const runtimeAnswer = ({ state, modelId, reason }: ProjectRuntime): z.input<typeof contracts.RuntimeAnswer> => ({
  state,
  model_id: modelId,
  reason,
});
