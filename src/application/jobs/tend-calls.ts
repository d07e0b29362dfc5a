import { injectable } from 'inversify';
import { JobFinished } from '../../domain/jobs/errors.js';
import { Job } from '../../domain/jobs/job.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Clock, Logger, WorkQueue } from '../shared/ports.js';
import { DeadProcesses } from './dead-processes.js';
import { FinishJobs } from './finish-jobs.js';
import { InstanceRegistry, JobHistory, JobRepository } from './ports.js';
import { TrackCalls } from './track-calls.js';

const AT_ONCE = 200;

/** Calls are kept for so long after their end. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const FORGOTTEN_AT_ONCE = 1_000;

/**
 * Done every few seconds: ends the calls of processes that died and gives their tasks to others, stores what could not
 * be stored, forgets old calls.
 */
@injectable()
export class TendCalls {
  private readonly dead: DeadProcesses;

  constructor(
    private readonly tracking: TrackCalls,
    private readonly jobs: JobRepository,
    private readonly history: JobHistory,
    private readonly finishing: FinishJobs,
    private readonly processes: InstanceRegistry,
    private readonly queue: WorkQueue,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.dead = new DeadProcesses(processes, clock);
  }

  async execute(): Promise<void> {
    await this.processes.renew();
    await this.tracking.catchUp();
    const busy = new Set([...(await this.jobs.processes()), ...(await this.queue.holders())]);
    for (const process of await this.dead.among([...busy])) await this.bury(process);
    await this.history.forgetCalls(new Date(this.clock.now().getTime() - KEPT_MS), FORGOTTEN_AT_ONCE);
  }

  private async bury(process: number): Promise<void> {
    const ids = await this.jobs.ofProcess(process, AT_ONCE);
    const outcomes = await Promise.allSettled(ids.map((id) => this.finishing.stored(id, this.abandoned())));
    for (const outcome of outcomes) {
      // Another process that looks after this one may have been faster.
      if (outcome.status === 'rejected' && !isOver(outcome.reason)) throw outcome.reason;
    }
    await this.queue.release(process);
    this.log.warn('a process died', { process, calls: ids.length });
  }

  private abandoned(): (stored: Job | null) => Job {
    const at = this.clock.now();
    return (stored) => {
      if (!stored) throw new NotFound('job');
      return Job.finish(stored, { status: 'failed', error: 'The process of the service died during the call.' }, at);
    };
  }
}

const isOver = (error: unknown) => error instanceof JobFinished || error instanceof NotFound;
