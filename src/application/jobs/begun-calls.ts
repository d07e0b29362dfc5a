import { injectable } from 'inversify';
import type { Job } from '../../domain/jobs/job.js';
import { Logger } from '../shared/ports.js';
import { JobRepository } from './ports.js';

/** Most calls of a fast model are over before. */
const PATIENCE_MS = 50;

/**
 * Writes down that calls have begun, behind the calls' backs: nobody waits for it, and what is over within a moment is
 * neither written nor logged. It serves those who look, and the call's end where the process dies; an end that finds no
 * beginning stored brings all of it along.
 */
@injectable()
export class BegunCalls {
  private readonly begun = new Map<string, NodeJS.Timeout>();
  private readonly due = new Map<string, Job>();
  private readonly withdrawn = new Set<string>();
  private writing = false;

  constructor(
    private readonly jobs: JobRepository,
    private readonly log: Logger,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  begin(job: Job): void {
    if (this.patienceMs === 0) this.isDue(job);
    else this.begun.set(job.id, setTimeout(() => this.isDue(job), this.patienceMs).unref());
  }

  /** Its end is written by others. */
  ends(id: string): void {
    this.forget(id);
  }

  /** It was no call after all. */
  withdraw(id: string): void {
    if (this.forget(id)) return;
    this.withdrawn.add(id);
    this.write();
  }

  /** Begins to write what could not be written. */
  write(): void {
    if (!this.writing) void this.writeAll();
  }

  private isDue(job: Job): void {
    this.begun.delete(job.id);
    this.due.set(job.id, job);
    this.log.info('job began', { job_id: job.id, kind: job.kind });
    this.write();
  }

  /** True where nothing of it was written. */
  private forget(id: string): boolean {
    clearTimeout(this.begun.get(id));
    return this.begun.delete(id) || this.due.delete(id);
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    try {
      while (this.due.size + this.withdrawn.size > 0) await this.writeSome();
    } catch (error) {
      this.log.warn('the beginning of calls could not be stored', { error });
    } finally {
      this.writing = false;
    }
  }

  private async writeSome(): Promise<void> {
    const begun = [...this.due.values()];
    const withdrawn = [...this.withdrawn];
    this.due.clear();
    if (begun.length > 0) await this.jobs.add(begun);
    if (withdrawn.length > 0) await this.jobs.withdraw(withdrawn);
    for (const id of withdrawn) this.withdrawn.delete(id);
  }
}
