import { ModelBusy } from '../../domain/chat/errors.js';
import type { WaitingTime } from './waiting-time.js';

/** A call that wants one of the places. */
export interface Turn {
  /** Whose it is. */
  readonly caller: string;
  /** What it costs at most, as far as that can be told: the tokens of its prompt and those that it asks for. */
  readonly tokens: number;
  /** It has a place, until it leaves. */
  begin(): void;
  /** It gets none. */
  refuse(reason: ModelBusy): void;
}

interface Share {
  /** The moment, in the queue's own time, up to which the caller has had what is due. */
  until: number;
  running: number;
  readonly waiting: Turn[];
}

/**
 * So many places, and a bounded queue before them, of which each caller has the same share in tokens, however many calls
 * it brings: start-time fair queueing. Time is counted in tokens. A place goes to the caller whose next call is due
 * first; what a call costs is charged when it begins and put right when it leaves. Who comes back after a pause begins
 * at the present and has saved nothing; once nobody is left, all is forgotten.
 */
export class FairQueue {
  private readonly shares = new Map<string, Share>();
  private now = 0;
  private running = 0;
  private waiting = 0;

  constructor(
    private places: number,
    private readonly most: number,
    private readonly waitingTime: WaitingTime,
  ) {}

  /** What to tell a call that gets neither a place nor leave to wait for one. */
  get busy(): ModelBusy {
    return new ModelBusy(this.waitingTime.seconds((this.waiting + 1) / this.places));
  }

  /** How many wait, and how many have a place. */
  get load(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.waiting, running: this.running };
  }

  /** More places, or fewer; who has one keeps it. */
  resize(places: number): void {
    this.places = places;
    this.advance();
  }

  /** Begins the turn now, or later, or refuses it: now, or when another caller needs its place in the queue. */
  enter(turn: Turn): void {
    const share = this.shareOf(turn.caller);
    if (this.running < this.places) this.begin(share, turn);
    else if (this.waiting < this.most || this.makeRoom(share)) {
      share.waiting.push(turn);
      this.waiting++;
    } else turn.refuse(this.busy);
  }

  /** Of a turn that has begun; `tokens` is what it really cost. */
  leave({ caller, tokens: charged }: Turn, tokens = charged): void {
    const share = this.shareOf(caller);
    share.running--;
    this.running--;
    share.until += tokens - charged;
    this.advance();
  }

  /** Of a turn that has not begun. */
  giveUp(turn: Turn): void {
    const { waiting } = this.shareOf(turn.caller);
    const at = waiting.indexOf(turn);
    if (at < 0) return;
    waiting.splice(at, 1);
    this.waiting--;
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
    while (this.running < this.places && this.waiting > 0) {
      const share = this.due();
      const turn = share?.waiting.shift();
      if (!share || !turn) return;
      this.waiting--;
      this.begin(share, turn);
    }
    if (this.running > 0) return;
    this.shares.clear();
    this.now = 0;
  }

  /** Of those who wait the one whose time is the earliest; of two alike, who came first. */
  private due(): Share | null {
    let first: Share | null = null;
    for (const [caller, share] of this.shares) {
      if (share.waiting.length > 0) {
        if (!first || Math.max(share.until, this.now) < Math.max(first.until, this.now)) first = share;
      } else if (share.running === 0 && share.until <= this.now) this.shares.delete(caller);
    }
    return first;
  }

  /** Whoever has the most in the queue loses the newest of it, to a caller who has at least two fewer there. */
  private makeRoom(share: Share): boolean {
    const all = [...this.shares.values()];
    const greediest = all.reduce((most, one) => (one.waiting.length > most.waiting.length ? one : most), share);
    if (greediest.waiting.length <= share.waiting.length + 1) return false;
    this.waiting--;
    greediest.waiting.pop()?.refuse(this.busy);
    return true;
  }
}
