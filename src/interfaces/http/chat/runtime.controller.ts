import { injectable } from 'inversify';
import type { z } from 'zod';
import { RuntimeService } from '../../../application/chat/runtime.service.js';
import { Instance } from '../../../application/shared/instance.js';
import type { ProjectRuntime } from '../../../domain/chat/runtime.js';
import { type AnswerOf, type Controller, type Existence, route } from '../contract.js';
import * as contracts from './runtime.contract.js';

@injectable()
export class RuntimeController implements Controller {
  readonly routes = [
    route(contracts.readRuntime, async ({ caller, params }) =>
      this.answer(await this.runtimes.read(caller, { projectId: params.project_id })),
    ),
    route(contracts.connectRuntime, async ({ caller, params, body }) => {
      const { model_id: modelId = null, fallbacks, split } = body;
      const weighted = split?.map((one) => ({ modelId: one.model_id, weight: one.weight })) ?? null;
      const input = { projectId: params.project_id, modelId, fallbacks: fallbacks ?? [], split: weighted };
      return this.answer(await this.runtimes.connect(caller, input));
    }),
    route(contracts.startRuntime, async ({ caller, params }) =>
      this.answer(await this.runtimes.start(caller, { projectId: params.project_id })),
    ),
    route(contracts.stopRuntime, async ({ caller, params }) =>
      this.answer(await this.runtimes.stop(caller, { projectId: params.project_id })),
    ),
    route(contracts.disconnectRuntime, async ({ caller, params }) => {
      const runtime = await this.runtimes.disconnect(caller, { projectId: params.project_id });
      return { id: params.project_id, deleted: true as const, ...this.answer(runtime) };
    }),
  ];

  readonly exists: Existence<'project_id'> = {
    project_id: ({ caller, params }) => this.runtimes.read(caller, { projectId: params.project_id }),
  };

  constructor(
    private readonly runtimes: RuntimeService,
    private readonly instance: Instance,
  ) {}

  private answer(runtime: ProjectRuntime): AnswerOf<typeof contracts.readRuntime> {
    return { ...runtimeAnswer(runtime), instance: this.instance.name };
  }
}

export const runtimeAnswer = ({
  modelId,
  fallbacks,
  split,
  targets,
  task,
  ...runtime
}: ProjectRuntime): z.input<typeof contracts.RuntimeAnswer> => ({
  ...runtime,
  model_id: modelId,
  fallbacks: [...fallbacks],
  split: split?.map((one) => ({ model_id: one.modelId, weight: one.weight })) ?? null,
  targets: targets.map(({ modelId: model_id, retryAfterSeconds, ...target }) => ({
    model_id,
    ...target,
    retry_after: retryAfterSeconds,
  })),
  task: task ?? null,
});
