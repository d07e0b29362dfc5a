import { TooManyProcesses } from '../../domain/shared/errors.js';
import { Lane } from '../system/scheduling.js';

const LOADS_AT_ONCE = 2;

const endlessLane = (width: number) => new Lane(width, Number.POSITIVE_INFINITY, () => new Error('never full'));

/** Limits the child processes of this instance, of all kinds together. */
export class ChildLimits {
  private readonly places: Lane;
  private readonly loads = endlessLane(LOADS_AT_ONCE);

  /** `most` limits the processes that exist at once, those that wait for their restart included. */
  constructor(private readonly most = Number.POSITIVE_INFINITY) {
    this.places = endlessLane(most);
  }

  /** Says why no further process may start. Is null while one may. */
  get refusal(): TooManyProcesses | null {
    return this.places.load.running < this.most ? null : new TooManyProcesses(this.most);
  }

  /** Throws TooManyProcesses. */
  requireRoom(): void {
    if (this.refusal) throw this.refusal;
  }

  /** Holds a place while `work` runs. Waits until there is one. Rejects with the signal's reason if aborted before. */
  hold(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    return this.places.run(work, signal);
  }

  /** Runs `work` beside one other load at most, because loading a model takes all that the machine has. */
  load<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.loads.run(work, signal);
  }
}
