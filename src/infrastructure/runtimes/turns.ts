import type { EndSignal } from './call-end.js';
import type { FairQueue, Turn } from './fair-queue.js';

export interface Cost {
  readonly caller: string;
  /** What the work costs at most, as far as that can be told. */
  readonly tokens: number;
}

/** Does work when its turn comes. */
export class Turns {
  constructor(private readonly queue: FairQueue) {}

  /**
   * The outcome of `work`, which says what it really cost. Once `ended` is aborted it rejects with the signal's reason,
   * and the turn is over. Throws ModelBusy.
   */
  take<T>({ caller, tokens }: Cost, ended: EndSignal, work: () => Promise<[T, number]>): Promise<T> {
    if (ended.aborted) return Promise.reject(ended.reason);
    return new Promise((resolve, reject) => {
      let begun = false;
      const end = (settle: () => void) => {
        ended.removeEventListener('abort', abort);
        settle();
      };
      const leave = (cost?: number) => {
        if (!ended.aborted) this.queue.leave(turn, cost);
      };
      const abort = () => {
        end(() => reject(ended.reason));
        if (begun) this.queue.leave(turn);
        else this.queue.giveUp(turn);
      };
      const turn: Turn = {
        caller,
        tokens,
        begin: () => {
          begun = true;
          work().then(
            ([outcome, cost]) => {
              leave(cost);
              end(() => resolve(outcome));
            },
            (error: unknown) => {
              leave();
              end(() => reject(error));
            },
          );
        },
        refuse: (reason) => end(() => reject(reason)),
      };
      ended.addEventListener('abort', abort);
      this.queue.enter(turn);
    });
  }
}
