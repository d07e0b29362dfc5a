import { injectable } from 'inversify';
import type { Json } from '../../domain/workspace/json.js';
import { type Attempt, Logger, type TaskWorker, WorkQueue } from '../shared/ports.js';
import { type CallOwner, KeptCallRepository } from './ports.js';

/** Names the task that deletes the calls of a deleted project or account. */
export const CALL_REMOVAL = 'call-removal';

/** Limits the calls of one transaction, so that no statement takes long. */
const AT_ONCE = 1_000;

/** Keeps the task until its calls have expired in any case. */
const ATTEMPTS = 10_000;

/** Deletes all calls of a deleted project or account, as a task of the work queue. */
@injectable()
export class CallRemoval implements TaskWorker {
  readonly atOnce = 1;

  constructor(
    private readonly queue: WorkQueue,
    private readonly calls: KeptCallRepository,
    private readonly log: Logger,
  ) {}

  /**
   * Adds the task. Must be called inside the unit of work that deletes the owner: the task runs only if it commits, and no
   * call of the owner can be stored after that.
   */
  async after(owner: CallOwner): Promise<void> {
    await this.queue.enqueue(CALL_REMOVAL, { ...owner }, { queueName: CALL_REMOVAL, maxAttempts: ATTEMPTS });
  }

  /** A run that ends early has deleted some calls. The next run deletes the others. */
  async run(payload: Json, { signal }: Pick<Attempt, 'signal'>): Promise<void> {
    while ((await this.calls.removeSome(payload as CallOwner, AT_ONCE)) === AT_ONCE) signal.throwIfAborted();
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    this.log.error('calls of a deleted owner are left until they expire', { ...(payload as CallOwner), reason });
  }
}
