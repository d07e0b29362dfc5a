/** What a runtime does now, and what it has done since it was started; that only grows until it is started anew. */
export interface RuntimeFigures {
  /** Calls that wait for their turn. */
  readonly waiting: number;
  /** Calls that it works on: where it answers several together, the size of the batch. */
  readonly running: number;
  /** The tokens of the answers that were given, where the runtime tells them. */
  readonly promptTokens: number;
  /** Those of the prompts that it still knew from an earlier call. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Seconds that answers were worked on, each for itself: with `completionTokens` the speed that one caller sees. */
  readonly workedSeconds: number;
  /** Seconds from a call's arrival to the first token of its answer. Empty where the runtime does not tell. */
  readonly firstToken: Spread;
  /** Seconds from a call's arrival to its answer. */
  readonly answer: Spread;
}

/** How often something happened, and how long it took. */
export interface Spread {
  readonly count: number;
  /** Seconds, all added up. */
  readonly sum: number;
  /** How often it took at most so many seconds; from the shortest time to the longest. */
  readonly within: readonly { readonly seconds: number; readonly count: number }[];
}
