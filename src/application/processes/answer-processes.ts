import type { TimedCompletion } from '../../domain/chat/chat.js';
import type { CompleteHere } from '../chat/complete-here.js';
import type { RuntimeStates } from '../chat/runtime-states.js';
import type { SettleRuntime } from '../chat/settle-runtime.js';
import type { ModelServers } from '../deployments/ports/model-servers.js';
import type { TendDeployments } from '../deployments/tend-deployments.js';
import type { ModelStates, RuntimeCall } from './ports/other-processes.js';

const isDeployment = (id: string) => id.startsWith('dep_');

/** What another process of the service asks of this one. Nobody else may. */
export class AnswerProcesses {
  constructor(
    private readonly servers: ModelServers,
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
