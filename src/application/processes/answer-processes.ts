import { injectable } from 'inversify';
import type { TimedCompletion } from '../../domain/chat/chat.js';
import { CompleteHere } from '../chat/complete-here.js';
import { RuntimeStates } from '../chat/runtime-states.js';
import { SettleRuntime } from '../chat/settle-runtime.js';
import { ModelServer } from '../deployments/ports.js';
import { TendDeployments } from '../deployments/tend-deployments.js';
import type { ModelStates, RuntimeCall } from './ports.js';

const isDeployment = (id: string) => id.startsWith('dep_');

/** What another process of the service asks of this one. Nobody else may. */
@injectable()
export class AnswerProcesses {
  constructor(
    private readonly servers: ModelServer,
    private readonly deployments: TendDeployments,
    private readonly runtimes: RuntimeStates,
    private readonly runtime: SettleRuntime,
    private readonly chats: CompleteHere,
  ) {}

  async states(ids: readonly string[]): Promise<ModelStates> {
    const servers = ids.filter(isDeployment).map(async (id) => [id, await this.servers.probe(id)] as const);
    const projects = ids.filter((id) => !isDeployment(id));
    return {
      deployments: Object.fromEntries(await Promise.all(servers)),
      runtimes: Object.fromEntries(projects.map((id) => [id, this.runtimes.here(id)])),
    };
  }

  /** Throws what `ChatRuntimes.complete` throws. */
  complete(call: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion> {
    return this.chats.execute(call, signal);
  }

  async settle(id: string): Promise<void> {
    if (isDeployment(id)) await this.deployments.settle(id);
    else await this.runtime.settleHere(id);
  }
}
