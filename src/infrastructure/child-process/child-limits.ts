import { TooManyProcesses } from '../../domain/shared/errors.js';
import { Lane } from '../system/scheduling.js';

const LOADS_AT_ONCE = 2;

const endlessLane = (width: number) => new Lane(width, Number.POSITIVE_INFINITY, () => new Error('never full'));

/** Limits the child processes of this instance, of all kinds together. */
export class ChildLimits {
  private readonly places: Lane;
  private readonly loads = endlessLane(LOADS_AT_ONCE);

  /** `most` limits the processes that exist at once, together with those that wait for their restart. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {
    this.places = endlessLane(most);
  }

  /** Returns the error for a further process, or null if one may start. */
  get refusal(): TooManyProcesses | null {
    return this.places.load.running < this.most ? null : new TooManyProcesses(this.most);
  }

  /** Throws TooManyProcesses if no further process may start. */
  requireRoom(): void {
    if (this.refusal) throw this.refusal;
  }

  /** Waits for a place, and holds it while `work` runs. Rejects with the signal's reason if aborted during the wait. */
  hold(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    return this.places.run(work, signal);
  }

  /** Runs `work`, which loads a model. At most two loads run at once, because a load uses the whole machine. */
  load<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.loads.run(work, signal);
  }
}
