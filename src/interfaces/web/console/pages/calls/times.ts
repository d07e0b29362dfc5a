import type { components } from '../../shared/openapi-types.js';

type Schemas = components['schemas'];

type Call = Pick<Schemas['Call'], 'created_at' | 'started_at' | 'finished_at' | 'usage' | 'attempts'>;

/** A part of the time of a call, in seconds after its arrival. */
export interface Span {
  readonly kind: 'wait' | 'entry' | 'attempt' | 'answer';
  readonly from: number;
  readonly to: number;
  /** The model and the outcome of an attempt. */
  readonly attempt?: { readonly model: string; readonly outcome: string };
}

export interface Times {
  readonly spans: readonly Span[];
  /** Seconds from the arrival to the end. */
  readonly total: number;
  /** Seconds from the arrival to the first part of the answer. Null without a stream. */
  readonly firstToken: number | null;
}

/** A shorter wait before the first attempt is not worth a line. */
const LEAST_S = 0.001;

/**
 * Returns the parts of the time of a call, in order: until it started, until its first attempt, its attempts, and the answer
 * from its first part on. The attempts followed each other without a pause, and the last one ended with the call.
 */
export function timesOf({ created_at, started_at, finished_at, usage, attempts }: Call): Times {
  const total = Math.max(0, finished_at - created_at);
  const within = (seconds: number) => Math.min(total, Math.max(0, seconds));
  const spans: Span[] = [];
  if (started_at !== null) spans.push({ kind: 'wait', from: 0, to: within(started_at - created_at) });
  let to = total;
  const tried = attempts.toReversed().map(({ model_id: model, outcome, ms }): Span => {
    const span: Span = { kind: 'attempt', from: within(to - ms / 1000), to, attempt: { model, outcome } };
    to = span.from;
    return span;
  });
  // From the start to the first attempt: the call waits for its budgets and for a free place.
  const started = spans.at(-1)?.to ?? 0;
  if (tried.length > 0 && to - started >= LEAST_S) spans.push({ kind: 'entry', from: started, to });
  spans.push(...tried.toReversed());
  const first = usage?.time_to_first_token ?? null;
  const firstToken = first === null ? null : within(first);
  if (firstToken !== null) spans.push({ kind: 'answer', from: firstToken, to: total });
  return { spans, total, firstToken };
}
