import { injectable } from 'inversify';
import { RunsElsewhere } from '../../domain/processes/errors.js';
import { DeadInstances } from '../jobs/dead-instances.js';
import { InstanceRegistry } from '../jobs/ports.js';
import { Clock } from '../shared/ports.js';

/**
 * Whose a deployment or a runtime is. It belongs to one process of the service, which alone starts it; another may take
 * it once that process has ended.
 */
@injectable()
export class Ownership {
  private readonly dead: DeadInstances;

  constructor(
    private readonly processes: InstanceRegistry,
    clock: Clock,
  ) {
    this.dead = new DeadInstances(processes, clock);
  }

  /** This process's number. */
  own(): Promise<number> {
    return this.processes.own();
  }

  /**
   * Those of the owners whose things this process may take. Of a process that is missing, once it has been for a while;
   * at once where it had this process's name, which has then been started again.
   */
  async free(owners: readonly (number | null)[]): Promise<ReadonlySet<number | null>> {
    const own = await this.own();
    const others = [...new Set(owners)].filter((owner) => owner !== null && owner !== own) as number[];
    const dead = await this.dead.among(others);
    const name = await this.processes.name(own);
    const free = new Set<number | null>([null, ...dead]);
    for (const other of await this.processes.missing(others)) {
      if (name !== null && (await this.processes.name(other)) === name) free.add(other);
    }
    return free;
  }

  async lives(process: number): Promise<boolean> {
    return (await this.processes.missing([process])).length === 0;
  }

  /** What people call it; null for nobody. */
  async nameOf(process: number | null): Promise<string | null> {
    if (process === null) return null;
    return (await this.processes.name(process)) ?? `number ${process}`;
  }

  async elsewhere(process: number): Promise<RunsElsewhere> {
    return new RunsElsewhere(process, String(await this.nameOf(process)));
  }
}
