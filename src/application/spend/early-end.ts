import type { ChatRequest, CompletionPart, Usage } from '../../domain/chat/chat.js';
import { estimatedTokens, hasContent, mostAnswerTokens } from '../../domain/chat/token-estimate.js';
import type { Attempts } from '../../domain/jobs/attempt.js';
import type { CallFigures } from '../jobs/finished-call.js';
import type { Bounds } from './ports.js';

/** Returns the figures of a call. `firstToken` is null for a whole answer without a stream. */
export const figuresOf = (usage: Usage | null, firstToken: number | null = null): CallFigures => ({
  tokensIn: usage?.promptTokens ?? null,
  tokensCached: usage?.cachedTokens ?? 0,
  tokensOut: usage?.completionTokens ?? null,
  firstToken,
});

/** Counts the tokens that a model makes for a chat call, in case the call ends before its answer is complete. */
export class EarlyEnd {
  private parts = 0;
  private readonly reports: { readonly attempt: number; readonly usage: Promise<Usage | null> }[] = [];

  constructor(
    private readonly request: ChatRequest,
    private readonly attempts: Pick<Attempts, 'count'> = { count: 1 },
    private readonly bounds: Pick<Bounds, 'promptTokens'> | null = null,
  ) {}

  /** Takes a part of the answer. */
  add(part: CompletionPart): void {
    if (hasContent(part)) this.parts++;
  }

  /** Takes the tokens of one answer from a chat worker, as `RuntimeCall.made` promises them. The last attempt counts. */
  readonly made = (usage: Promise<Usage | null>): void => {
    this.reports.push({ attempt: this.attempts.count, usage });
  };

  /**
   * Returns the figures of a stream that has ended early. A chat worker reports its tokens. An engine elsewhere does not:
   * then each part of the stream counts as a token of the answer.
   */
  async ofStream(firstToken: number | null): Promise<CallFigures> {
    const mostIn = this.bounds?.promptTokens ?? Infinity;
    const assumed = () => ({ tokensIn: Math.min(mostIn, estimatedTokens(this.request)), tokensOut: this.parts });
    return { ...(await this.figures(assumed)), firstToken };
  }

  /**
   * Returns the figures of a whole answer that its caller has left. An engine elsewhere does not say how much it has
   * made, so the answer counts as if it had all its tokens, and the prompt as its budgets hold it: to leave early must
   * not pay.
   */
  async ofWhole(): Promise<CallFigures> {
    return this.figures(() => ({
      tokensIn: this.bounds?.promptTokens ?? estimatedTokens(this.request),
      tokensOut: mostAnswerTokens(this.request),
    }));
  }

  /**
   * Returns the figures of an answer with its reported tokens. If the engine has reported none, the answer is charged
   * under budgets as if its caller had left, so that silence does not pay.
   */
  async ofAnswer(usage: Usage | null): Promise<CallFigures> {
    return usage || !this.bounds ? figuresOf(usage) : this.ofWhole();
  }

  private async figures(assumed: () => { tokensIn: number; tokensOut: number }): Promise<CallFigures> {
    const usage = await this.reported();
    const { tokensIn, tokensOut } = usage
      ? { tokensIn: usage.promptTokens, tokensOut: usage.completionTokens }
      : assumed();
    if (tokensOut === 0) return { tokensIn: null, tokensOut: null, firstToken: null };
    return { tokensIn, tokensCached: usage?.cachedTokens ?? 0, tokensOut, firstToken: null, isCharged: true };
  }

  /** Returns the sum of all reports, or null if one is missing. An answer that has not begun has no report. */
  private async reported(): Promise<Usage | null> {
    await null; // the worker's callbacks can run later in the same turn, after the one that ended the call
    const last = this.reports.filter(({ attempt }) => attempt === this.attempts.count);
    const all = await Promise.all(last.map(({ usage }) => usage));
    return all.reduce((sum, one) => sum && one && added(sum, one), all.length > 0 ? NO_TOKENS : null);
  }
}

const NO_TOKENS: Usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

const added = (a: Usage, b: Usage): Usage => ({
  promptTokens: a.promptTokens + b.promptTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  completionTokens: a.completionTokens + b.completionTokens,
});
