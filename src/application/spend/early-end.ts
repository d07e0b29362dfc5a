import type { ChatRequest, CompletionPart, Usage } from '../../domain/chat/chat.js';
import { answersOf, estimatedTokens, hasContent, mostAnswerTokens } from '../../domain/chat/token-estimate.js';
import type { CallFigures } from '../jobs/call-tracker.js';

/** Counts what a model makes for a chat call, in case the call ends before the model reports its tokens. */
export class EarlyEnd {
  private parts = 0;
  private reported: Promise<Usage | null> | null = null;

  constructor(private readonly request: ChatRequest) {}

  /** Takes a part of the answer. */
  add(part: CompletionPart): void {
    if (hasContent(part)) this.parts++;
  }

  /** Takes the report of a chat worker about a call that was cancelled in its work. */
  readonly left = (usage: Promise<Usage | null>): void => {
    this.reported = usage;
  };

  /**
   * Returns the figures of a call that has ended early. A chat worker reports its tokens. An engine elsewhere does not:
   * then each part of a stream counts as a token of the answer.
   */
  async ofStream(firstToken: number | null): Promise<CallFigures> {
    const usage = await this.usage();
    const tokensOut = usage?.completionTokens ?? this.parts;
    return this.figures(usage, { tokensOut, firstToken, isCharged: tokensOut > 0 });
  }

  /**
   * Returns the figures of a whole answer that its caller has left. An engine elsewhere does not say what it has made,
   * so the answer counts as if it had all its tokens: to leave early must not pay.
   */
  async ofWhole(): Promise<CallFigures> {
    const usage = await this.usage();
    const tokensOut = usage?.completionTokens ?? mostAnswerTokens(this.request);
    return this.figures(usage, { tokensOut, firstToken: null, isCharged: tokensOut > 0 });
  }

  /** The calls for several answers report one by one, so their reports do not count. */
  private async usage(): Promise<Usage | null> {
    await null; // the worker's callback can run later in the same turn, after the one that ended the call
    return answersOf(this.request) === 1 ? this.reported : null;
  }

  private figures(usage: Usage | null, made: Pick<CallFigures, 'tokensOut' | 'firstToken' | 'isCharged'>): CallFigures {
    if (!made.isCharged) return { ...made, tokensIn: null, tokensOut: null };
    return {
      ...made,
      tokensIn: usage?.promptTokens ?? estimatedTokens(this.request),
      tokensCached: usage?.cachedTokens ?? 0,
    };
  }
}
