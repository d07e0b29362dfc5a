/** Counts what one runtime does, for its figures. */
import type { Usage } from '../../domain/chat/chat.js';
import type { RuntimeFigures, Spread } from '../../domain/chat/runtime.js';
import type { FairQueue } from './fair-queue.js';

const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export interface Answered {
  readonly usage: Usage | null;
  /** From the call's arrival until its turn. */
  readonly waitedMs: number;
  /** From the turn to the first token; null if unknown. */
  readonly firstTokenMs: number | null;
  readonly tookMs: number;
}

export class RuntimeMeter {
  private readonly tokens = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  private workedSeconds = 0;
  private readonly firstToken = new Histogram();
  private readonly answer = new Histogram();

  answered({ usage, waitedMs, firstTokenMs, tookMs }: Answered): void {
    this.workedSeconds += tookMs / 1_000;
    this.answer.add(waitedMs + tookMs);
    if (firstTokenMs !== null) this.firstToken.add(waitedMs + firstTokenMs);
    this.tokens.promptTokens += usage?.promptTokens ?? 0;
    this.tokens.cachedTokens += usage?.cachedTokens ?? 0;
    this.tokens.completionTokens += usage?.completionTokens ?? 0;
  }

  /** Returns the figures with the load of the queue; without a queue the load is zero. */
  figures(queue: FairQueue | null): RuntimeFigures {
    const { workedSeconds, tokens, firstToken, answer } = this;
    const load = queue?.load ?? { waiting: 0, running: 0 };
    return { ...load, ...tokens, workedSeconds, firstToken: firstToken.spread, answer: answer.spread };
  }
}

class Histogram {
  private readonly counts = BOUNDS.map(() => 0);
  private count = 0;
  private sum = 0;

  add(milliseconds: number): void {
    const seconds = milliseconds / 1_000;
    this.count++;
    this.sum += seconds;
    for (const [i, bound] of BOUNDS.entries()) if (seconds <= bound) this.counts[i] = (this.counts[i] as number) + 1;
  }

  get spread(): Spread {
    const within = BOUNDS.map((seconds, i) => ({ seconds, count: this.counts[i] as number }));
    return { count: this.count, sum: this.sum, within };
  }
}
