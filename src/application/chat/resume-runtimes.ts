import type { Log } from '../shared/ports/log.js';
import type { RuntimeConnections } from './ports/runtime-connections.js';
import type { SettleRuntime } from './settle-runtime.js';

/** At the start of the service: brings every runtime up again that the teams want started. */
export class ResumeRuntimes {
  constructor(
    private readonly connections: RuntimeConnections,
    private readonly runtime: SettleRuntime,
    private readonly log: Log,
  ) {}

  /** Returns once all have begun to load; one that cannot be started is logged and does not hold up the others. */
  async execute(): Promise<void> {
    for (const { projectId } of await this.connections.started()) {
      await this.runtime.execute(projectId).catch((error: unknown) => {
        this.log.error('runtime not resumed', { project_id: projectId, error });
      });
    }
  }
}
