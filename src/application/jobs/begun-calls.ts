import type { Job } from '../../domain/jobs/job.js';
import type { Log } from '../shared/ports/log.js';
import type { Jobs } from './ports/jobs.js';

/**
 * Writes down that calls have begun, behind the calls' backs: nobody waits for it, and what is over before its turn
 * comes is never written. It serves those who look, and the call's end where the process dies; an end that finds no
 * beginning stored brings all of it along.
 */
export class BegunCalls {
  private readonly begun = new Map<string, Job>();
  private readonly withdrawn = new Set<string>();
  private writing = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly log: Log,
  ) {}

  begin(job: Job): void {
    this.begun.set(job.id, job);
    this.write();
  }

  /** Its end is written by others. */
  ends(id: string): void {
    this.begun.delete(id);
  }

  /** It was no call after all. */
  withdraw(id: string): void {
    if (this.begun.delete(id)) return;
    this.withdrawn.add(id);
    this.write();
  }

  /** Begins to write what could not be written. */
  write(): void {
    if (!this.writing) void this.writeAll();
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    try {
      while (this.begun.size + this.withdrawn.size > 0) await this.writeSome();
    } catch (error) {
      this.log.warn('the beginning of calls could not be stored', { error });
    } finally {
      this.writing = false;
    }
  }

  private async writeSome(): Promise<void> {
    const begun = [...this.begun.values()];
    const withdrawn = [...this.withdrawn];
    this.begun.clear();
    if (begun.length > 0) await this.jobs.add(begun);
    if (withdrawn.length > 0) await this.jobs.withdraw(withdrawn);
    for (const id of withdrawn) this.withdrawn.delete(id);
  }
}
