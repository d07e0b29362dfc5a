type RuntimeState = 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';

/** `chat`: the model answers messages. `embedding`: it makes vectors of texts. */
export type RuntimeTask = 'chat' | 'embedding';

/** A model as its engine needs it. Only the engine of that kind knows the other fields. */
export interface RuntimeSource {
  readonly kind: string;
}

/** The state of a runtime now. `reason` says why it is `unavailable`, else it is null. */
export interface RuntimeStatus {
  readonly state: Exclude<RuntimeState, 'not_connected'>;
  readonly reason: string | null;
  /** Is absent as long as it is unknown. Of an engine elsewhere it is known if the spec names it. */
  readonly task?: RuntimeTask | undefined;
}

/** The runtime of a project as its team sees it. */
export interface ProjectRuntime {
  readonly state: RuntimeState;
  readonly modelId: string | null;
  readonly reason: string | null;
  /** Is absent as long as it is unknown, as before the first start. */
  readonly task?: RuntimeTask | undefined;
}

/** Counts the work of a runtime: `waiting` and `running` now, all else since its start. */
export interface RuntimeFigures {
  /** Calls that wait for their turn. */
  readonly waiting: number;
  /** Calls in work. With continuous batching this is the size of the batch. */
  readonly running: number;
  /** Token counts of all answers, as far as the runtime reports them. */
  readonly promptTokens: number;
  /** The tokens of the prompts that were in the prefix cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** The sum of the seconds of each answer. With `completionTokens` it gives the speed that one caller sees. */
  readonly workedSeconds: number;
  /** Seconds from a call's arrival to the first token of its answer. Is empty if the runtime does not report it. */
  readonly firstToken: Spread;
  /** Seconds from each token to the next of the same answer. Is empty if the runtime does not report it. */
  readonly betweenTokens: Spread;
  /** Seconds from a call's arrival to its answer. */
  readonly answer: Spread;
}

/** A histogram of durations. */
export interface Spread {
  readonly count: number;
  /** The sum of all durations in seconds. */
  readonly sum: number;
  /** The number of durations up to each bound, in ascending order of the bounds. */
  readonly within: readonly { readonly seconds: number; readonly count: number }[];
}
