/** Shares the slots of a runtime fairly among its callers, and estimates how long a refused caller should wait. */
import { AsyncResource } from 'node:async_hooks';
import { ModelBusy } from '../../domain/chat/errors.js';

/** The expected cost of a call, and the caller who pays for it. */
export interface Cost {
  readonly caller: string;
  /** The tokens of the prompt, known or estimated, plus the most tokens of the answer. */
  readonly tokens: number;
}

export interface Turn extends Cost {
  /** The queue calls this when the call gets a slot. The call keeps the slot until `leave`. */
  begin(): void;
  refuse(reason: ModelBusy): void;
}

interface Share {
  /** The virtual time until which the caller has used its share. */
  until: number;
  running: number;
  readonly waiting: Turn[];
}

/**
 * Gives slots to calls, and keeps a limited queue of calls that wait for a slot. Each caller gets the same share of
 * tokens, even if it makes more calls than others. The algorithm is start-time fair queueing. Virtual time is counted
 * in tokens. A free slot goes to the waiting caller with the earliest virtual time. A call pays its expected cost when
 * it begins, and the difference to its real cost when it leaves. A caller that returns after a pause starts at the
 * present virtual time, so the pause gives no advantage. A queue without calls forgets everything.
 */
export class FairQueue {
  private readonly shares = new Map<string, Share>();
  private now = 0;
  private running = 0;
  private waiting = 0;

  constructor(
    private slots: number,
    private readonly maxWaiting: number,
    private readonly estimate: WaitEstimate,
  ) {}

  /** Returns the error for a call that gets neither a slot nor a place in the queue. */
  get busy(): ModelBusy {
    return new ModelBusy(this.estimate.seconds((this.waiting + 1) / this.slots));
  }

  get load(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.waiting, running: this.running };
  }

  /** Sets the number of slots. A running call keeps its slot. */
  resize(slots: number): void {
    this.slots = slots;
    this.advance();
  }

  /** Begins the turn now or later. Refuses it if the queue is full, or later if another caller needs its place. */
  enter(turn: Turn): void {
    const share = this.shareOf(turn.caller);
    if (this.running < this.slots) this.begin(share, turn);
    else if (this.waiting < this.maxWaiting || this.makeRoom(share)) {
      share.waiting.push(turn);
      this.waiting++;
    } else turn.refuse(this.busy);
  }

  /** Ends a turn that has begun. `tokens` is its real cost. */
  leave({ caller, tokens: charged }: Turn, tokens = charged): void {
    const share = this.shareOf(caller);
    share.running--;
    this.running--;
    share.until += tokens - charged;
    this.advance();
  }

  /** Ends a turn that has not begun. */
  giveUp(turn: Turn): void {
    const { waiting } = this.shareOf(turn.caller);
    const at = waiting.indexOf(turn);
    if (at < 0) return;
    waiting.splice(at, 1);
    this.waiting--;
  }

  /**
   * Runs `work` when it has a slot, and returns its outcome. `work` also returns its real cost in tokens. If the signal
   * is aborted, ends the turn and rejects with the signal's reason. Rejects with ModelBusy if the turn is refused.
   */
  run<T>({ caller, tokens }: Cost, signal: AbortSignal, work: () => Promise<[T, number]>): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      let begun = false;
      const end = () => signal.removeEventListener('abort', abort);
      const leave = (cost?: number) => {
        end();
        if (!signal.aborted) this.leave(turn, cost);
      };
      const abort = () => {
        reject(signal.reason);
        if (begun) this.leave(turn);
        else this.giveUp(turn);
      };
      // The end of another call may begin this turn. The work then still runs in the context of its own request.
      const context = new AsyncResource('Turn');
      const turn: Turn = {
        caller,
        tokens,
        begin: () => {
          begun = true;
          context.runInAsyncScope(work).then(
            ([outcome, cost]) => {
              leave(cost);
              resolve(outcome);
            },
            (error: unknown) => {
              leave();
              reject(error);
            },
          );
        },
        refuse: (reason) => {
          end();
          reject(reason);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.enter(turn);
    });
  }

  private shareOf(caller: string): Share {
    const known = this.shares.get(caller);
    if (known) return known;
    const share: Share = { until: this.now, running: 0, waiting: [] };
    this.shares.set(caller, share);
    return share;
  }

  private begin(share: Share, turn: Turn): void {
    this.now = Math.max(this.now, share.until);
    share.until = this.now + turn.tokens;
    share.running++;
    this.running++;
    turn.begin();
  }

  private advance(): void {
    while (this.running < this.slots && this.waiting > 0) {
      const share = this.nextShare();
      const turn = share?.waiting.shift();
      if (!share || !turn) return;
      this.waiting--;
      this.begin(share, turn);
    }
    if (this.running > 0) return;
    this.shares.clear();
    this.now = 0;
  }

  /** Returns the waiting share with the earliest virtual time, the older of two equal ones. Removes unused shares. */
  private nextShare(): Share | null {
    let first: Share | null = null;
    for (const [caller, share] of this.shares) {
      if (share.waiting.length > 0) {
        if (!first || Math.max(share.until, this.now) < Math.max(first.until, this.now)) first = share;
      } else if (share.running === 0 && share.until <= this.now) this.shares.delete(caller);
    }
    return first;
  }

  /** Refuses the newest call of the caller with the most waiting calls, if `share` has at least two fewer. */
  private makeRoom(share: Share): boolean {
    const all = [...this.shares.values()];
    const greediest = all.reduce((most, one) => (one.waiting.length > most.waiting.length ? one : most), share);
    if (greediest.waiting.length <= share.waiting.length + 1) return false;
    this.waiting--;
    greediest.waiting.pop()?.refuse(this.busy);
    return true;
  }
}

/** The number of latest answers that count. */
const REMEMBERED = 8;

/** Estimates the wait for an answer from the time that the latest answers took. */
export class WaitEstimate {
  private readonly durations: number[] = [];

  record(milliseconds: number): void {
    this.durations.push(milliseconds);
    if (this.durations.length > REMEMBERED) this.durations.shift();
  }

  /** Returns the time for this number of answers one after another, in whole seconds from 1 to 60. */
  seconds(answers: number): number {
    const mean = this.durations.reduce((sum, one) => sum + one, 0) / Math.max(1, this.durations.length);
    return Math.min(60, Math.max(1, Math.ceil((mean * answers) / 1_000)));
  }
}
