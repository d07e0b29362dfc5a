import type { BreakerState } from './breaker.js';
import type { WeightedTarget } from './target.js';

type RuntimeState = 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable';

/** `chat`: the model answers messages. `embedding`: the model makes vectors of texts. */
export type RuntimeTask = 'chat' | 'embedding';

/** The data that a chat engine needs to run a model. Only the chat engine of this `kind` knows the other fields. */
export interface RuntimeSource {
  readonly kind: string;
}

/** The present state of a runtime. */
export interface RuntimeStatus {
  readonly state: Exclude<RuntimeState, 'not_connected'>;
  /** Says why the runtime is `unavailable`. Null in other states. */
  readonly reason: string | null;
  /** Absent while unknown. For an engine elsewhere it is known only if the spec of the model names it. */
  readonly task?: RuntimeTask | undefined;
  /** The most tokens of a prompt with its answer, or of a text to embed. Absent while unknown. */
  readonly context?: number | undefined;
}

/** A target of a project's runtime, as it is on one instance. */
export interface TargetStatus {
  readonly modelId: string;
  /** The part of the calls that try this target first, from 0 to 1. */
  readonly share: number;
  readonly state: RuntimeStatus['state'];
  readonly reason: string | null;
  readonly breaker: BreakerState;
  /** The time until the breaker lets a call through. Null: it does so now. */
  readonly retryAfterSeconds: number | null;
}

/** The runtime of a project as its team sees it. It is ready if one of its targets is ready. */
export interface ProjectRuntime {
  readonly state: RuntimeState;
  /** The model that stands for the runtime. Null without a connection. */
  readonly modelId: string | null;
  readonly fallbacks: readonly string[];
  readonly split: readonly WeightedTarget[] | null;
  readonly targets: readonly TargetStatus[];
  readonly reason: string | null;
  /** Absent while unknown, for example before the first start. */
  readonly task?: RuntimeTask | undefined;
}

/** Counts the work of a runtime: present calls in `waiting` and `running`, all else since the runtime's start. */
export interface RuntimeFigures {
  /** Calls that wait for their turn. */
  readonly waiting: number;
  /** Calls that the model works on. With continuous batching this is the size of the batch. */
  readonly running: number;
  /** The tokens of the prompts of all answers. Answers without a reported number do not count. */
  readonly promptTokens: number;
  /** The tokens of the prompts that were in the prefix cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** The sum of the seconds of all answers. `completionTokens / workedSeconds` is the speed that one caller sees. */
  readonly workedSeconds: number;
  /** Seconds from a call's arrival to the first token of its answer. Empty if the runtime does not report them. */
  readonly firstToken: Spread;
  /** Seconds from each token to the next of the same answer. Empty if the runtime does not report them. */
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
