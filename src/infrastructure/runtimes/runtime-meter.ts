import type { Usage } from '../../domain/chat/chat.js';
import type { RuntimeFigures, Spread } from '../../domain/chat/runtime-figures.js';
import type { FairQueue } from './fair-queue.js';

const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** An answer that was given. Times are milliseconds. */
export interface Answered {
  readonly usage: Usage | null;
  /** From its arrival until it was its turn. */
  readonly waitedMs: number;
  /** From then on to its first token; null where that is not known. */
  readonly firstTokenMs: number | null;
  readonly tookMs: number;
}

/** Counts what one runtime does. */
export class RuntimeMeter {
  private readonly tokens = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  private workedSeconds = 0;
  private readonly firstToken = new Times();
  private readonly answer = new Times();

  answered({ usage, waitedMs, firstTokenMs, tookMs }: Answered): void {
    this.workedSeconds += tookMs / 1_000;
    this.answer.add(waitedMs + tookMs);
    if (firstTokenMs !== null) this.firstToken.add(waitedMs + firstTokenMs);
    this.tokens.promptTokens += usage?.promptTokens ?? 0;
    this.tokens.cachedTokens += usage?.cachedTokens ?? 0;
    this.tokens.completionTokens += usage?.completionTokens ?? 0;
  }

  /** `queue`: where its calls wait; null while there is none. */
  figures(queue: FairQueue | null): RuntimeFigures {
    const { workedSeconds, tokens, firstToken, answer } = this;
    const load = queue?.load ?? { waiting: 0, running: 0 };
    return { ...load, ...tokens, workedSeconds, firstToken: firstToken.spread, answer: answer.spread };
  }
}

class Times {
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
