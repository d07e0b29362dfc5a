import type { Usage } from '../../domain/chat/chat.js';
import type { RuntimeFigures, Spread } from '../../domain/chat/runtime.js';
import type { FairQueue } from './fair-queue.js';

const ANSWER_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const TOKEN_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export interface Answered {
  readonly usage: Usage | null;
  /** From the call's arrival until its turn. */
  readonly waitedMs: number;
  /** From the turn to the first token; null if unknown. */
  readonly firstTokenMs: number | null;
  /** The time from each token to the next. Absent if unknown. */
  readonly betweenTokensMs?: readonly number[];
  readonly tookMs: number;
}

export class RuntimeMeter {
  private readonly tokens = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  private workedSeconds = 0;
  private readonly firstToken = new Histogram(ANSWER_SECONDS);
  private readonly betweenTokens = new Histogram(TOKEN_SECONDS);
  private readonly answer = new Histogram(ANSWER_SECONDS);

  answered({ usage, waitedMs, firstTokenMs, betweenTokensMs = [], tookMs }: Answered): void {
    this.workedSeconds += tookMs / 1_000;
    this.answer.add(waitedMs + tookMs);
    if (firstTokenMs !== null) this.firstToken.add(waitedMs + firstTokenMs);
    for (const each of betweenTokensMs) this.betweenTokens.add(each);
    this.tokens.promptTokens += usage?.promptTokens ?? 0;
    this.tokens.cachedTokens += usage?.cachedTokens ?? 0;
    this.tokens.completionTokens += usage?.completionTokens ?? 0;
  }

  /** Returns the figures with the load of the queue; without a queue the load is zero. */
  figures(queue: FairQueue | null): RuntimeFigures {
    const { workedSeconds, tokens } = this;
    const load = queue?.load ?? { waiting: 0, running: 0 };
    const { firstToken, betweenTokens, answer } = this;
    const spreads = { firstToken: firstToken.spread, betweenTokens: betweenTokens.spread, answer: answer.spread };
    return { ...load, ...tokens, workedSeconds, ...spreads };
  }
}

class Histogram {
  private readonly counts: number[];
  private count = 0;
  private sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  add(milliseconds: number): void {
    const seconds = milliseconds / 1_000;
    this.count++;
    this.sum += seconds;
    for (const [i, bound] of this.bounds.entries())
      if (seconds <= bound) this.counts[i] = (this.counts[i] as number) + 1;
  }

  get spread(): Spread {
    const within = this.bounds.map((seconds, i) => ({ seconds, count: this.counts[i] as number }));
    return { count: this.count, sum: this.sum, within };
  }
}
