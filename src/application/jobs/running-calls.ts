import { injectable } from 'inversify';
import type { Job } from '../../domain/jobs/job.js';
import { Logger } from '../shared/ports.js';
import { JobRepository } from './ports.js';

/**
 * Stores the beginning of long calls in the background. A stored call is visible as a running job, and other instances
 * can close it if this instance dies. A short call is stored only at its end.
 */
@injectable()
export class RunningCalls {
  /** Most calls of a fast model end before this time. */
  delayMs = 50;

  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly unstored = new Map<string, Job>();
  private readonly withdrawn = new Set<string>();
  private storing = false;

  constructor(
    private readonly jobs: JobRepository,
    private readonly log: Logger,
  ) {}

  /** Takes a call that begins now. `log` writes the lines about the call. */
  begin(job: Job, log: Logger): void {
    if (this.delayMs === 0) this.store(job, log);
    else this.timers.set(job.id, setTimeout(() => this.store(job, log), this.delayMs).unref());
  }

  /** Forgets a call. The caller stores its end. */
  end(id: string): void {
    this.forget(id);
  }

  /** Removes a call that the model has refused. */
  withdraw(id: string): void {
    if (this.forget(id)) return;
    this.withdrawn.add(id);
    void this.flush();
  }

  /** Stores the waiting beginnings and withdrawals. Never throws. */
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

  private store(job: Job, log: Logger): void {
    this.timers.delete(job.id);
    this.unstored.set(job.id, job);
    log.info('job began', { kind: job.kind });
    void this.flush();
  }

  /** Forgets a call. Returns true if the database knows nothing about the call. */
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
