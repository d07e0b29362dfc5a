import { injectable } from 'inversify';
import { Ownership } from '../processes/ownership.js';
import { Logger } from '../shared/ports.js';
import { RuntimeConnectionRepository } from './ports.js';
import { SettleRuntime } from './settle-runtime.js';

/**
 * Done at the start of the service and every few seconds: brings up every runtime that a team wants started and that
 * belongs to nobody, to a process that has ended, or to this one, where the start of it failed; and ends those that run
 * here and should not.
 */
@injectable()
export class TendRuntimes {
  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly runtime: SettleRuntime,
    private readonly ownership: Ownership,
    private readonly log: Logger,
  ) {}

  /** Returns once all have begun to load; one that cannot be started is logged and does not hold up the others. */
  async execute(): Promise<void> {
    const before = new Set(this.runtime.held()); // all of them were stored as this process's when the table is read
    const [own, started] = [await this.ownership.own(), await this.connections.started()];
    const mine = new Set(started.filter(({ process }) => process === own).map(({ projectId }) => projectId));
    const free = await this.ownership.free(started.map(({ process }) => process));
    const waiting = started.filter(({ process }) => free.has(process)).map(({ projectId }) => projectId);
    const [ended, failed] = [[...before].filter((id) => !mine.has(id)), [...mine].filter((id) => !before.has(id))];
    for (const projectId of [...ended, ...failed, ...waiting]) {
      await this.runtime.settleHere(projectId).catch((error: unknown) => {
        this.log.error('runtime not resumed', { project_id: projectId, error });
      });
    }
  }

  /** What is this process's others may take. To be called when nothing runs here any more. */
  async release(): Promise<void> {
    await this.connections.release(await this.ownership.own());
  }
}
