import { injectable } from 'inversify';
import type { Job } from '../../domain/jobs/job.js';
import { Logger } from '../shared/ports.js';
import { JobRepository } from './ports.js';

/**
 * Stores calls that have been running for a while, in the background. A stored call shows up as a running job, and
 * other instances can close it if this one dies. Short calls are stored with their end only.
 */
@injectable()
export class RunningCalls {
  /** Most calls of a fast model are over before. */
  delayMs = 50;

  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly unstored = new Map<string, Job>();
  private readonly withdrawn = new Set<string>();
  private storing = false;

  constructor(
    private readonly jobs: JobRepository,
    private readonly log: Logger,
  ) {}

  begin(job: Job): void {
    if (this.delayMs === 0) this.store(job);
    else this.timers.set(job.id, setTimeout(() => this.store(job), this.delayMs).unref());
  }

  /** Forgets a call whose end is stored by somebody else. */
  end(id: string): void {
    this.forget(id);
  }

  /** Removes a call that turned out to be none. */
  withdraw(id: string): void {
    if (this.forget(id)) return;
    this.withdrawn.add(id);
    void this.flush();
  }

  /** Stores what could not be stored before. Never throws. */
  async flush(): Promise<void> {
    if (this.storing) return;
    this.storing = true;
    try {
      while (this.unstored.size + this.withdrawn.size > 0) await this.storeAll();
    } catch (error) {
      this.log.warn('the beginning of calls could not be stored', { error });
    } finally {
      this.storing = false;
    }
  }

  private store(job: Job): void {
    this.timers.delete(job.id);
    this.unstored.set(job.id, job);
    this.log.info('job began', { job_id: job.id, kind: job.kind });
    void this.flush();
  }

  /** Returns true if nothing about the call was sent to storage. */
  private forget(id: string): boolean {
    clearTimeout(this.timers.get(id));
    return this.timers.delete(id) || this.unstored.delete(id);
  }

  private async storeAll(): Promise<void> {
    const [begun, withdrawn] = [[...this.unstored.values()], [...this.withdrawn]];
    this.unstored.clear();
    if (begun.length > 0) await this.jobs.add(begun);
    if (withdrawn.length > 0) await this.jobs.withdraw(withdrawn);
    for (const id of withdrawn) this.withdrawn.delete(id);
  }
}
