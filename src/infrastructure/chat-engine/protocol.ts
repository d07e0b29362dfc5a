import type { ChatRequest } from '../../domain/chat/chat.js';

/** How a model is to be loaded; the process knows what is usual. */
export interface LoadSettings {
  /** Which of several: a variant (`q4`) or the name of a file in the folder `onnx`. */
  readonly weights?: string;
  /** Calls that may be worked on at once. */
  readonly maxBatch?: number;
  /** What the keys and values of the calls that are worked on may weigh together. */
  readonly kvBytes?: number;
  /** What the keys and values of earlier calls may weigh, which are kept for others that begin alike. */
  readonly cacheBytes?: number;
}

/** What the service tells a runtime's process. `call` numbers a caller's request; it is never used twice. */
export type Order =
  | ({ readonly type: 'load'; readonly folder: string; readonly threads: number } & LoadSettings)
  | { readonly type: 'count'; readonly call: number; readonly caller: string; readonly request: ChatRequest }
  | { readonly type: 'generate'; readonly call: number }
  | { readonly type: 'drop'; readonly call: number };

type Guard<T> = (value: unknown) => value is T;
type Shape = Readonly<Record<string, Guard<unknown>>>;
type Of<S extends Shape> = { readonly [K in keyof S]: S[K] extends Guard<infer T> ? T : never };

const text: Guard<string> = (value) => typeof value === 'string';
const count: Guard<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const atLeastOne: Guard<number> = (value): value is number => count(value) && value >= 1;
const duration: Guard<number> = (value): value is number => Number.isFinite(value) && (value as number) >= 0;
const truth: Guard<boolean> = (value) => typeof value === 'boolean';
const finishReason: Guard<'stop' | 'length'> = (value) => value === 'stop' || value === 'length';

/** What the process tells the service. The types of the reports are made from these checks. */
const reports = {
  /** No more than `maxBatch` calls may be generated at once: 1 where the model would mix them up. */
  ready: { maxBatch: atLeastOne },
  /** The model can't be used: more attempts give the same. */
  broken: { reason: text },
  counted: { call: count, promptTokens: count },
  /** Without the `whole` prompt there are only so many tokens that were counted before it was plain. */
  too_long: { call: count, promptTokens: count, whole: truth, context: count },
  /** The model's chat template refuses the messages. */
  refused: { call: count, message: text },
  completed: {
    call: count,
    text,
    finishReason,
    promptTokens: count,
    /** Of the prompt's, those that an earlier call had left in the cache. */
    cachedTokens: count,
    completionTokens: count,
    firstTokenMs: duration,
    tookMs: duration,
  },
  failed: { call: count, reason: text },
  /** Answers each `drop`, whether or not there was something to drop. */
  dropped: { call: count },
} satisfies Record<string, Shape>;

type Reports = typeof reports;
export type Report = { [T in keyof Reports]: { readonly type: T } & Of<Reports[T]> }[keyof Reports];
export type CallReport = Extract<Report, { call: number }>;

/** The report that `message` is; null for anything else. Nothing that a process says is trusted unread. */
export function reportOf(message: unknown): Report | null {
  if (typeof message !== 'object' || message === null) return null;
  const fields = message as Record<string, unknown>;
  if (typeof fields.type !== 'string' || !Object.hasOwn(reports, fields.type)) return null;
  const shape: Shape = reports[fields.type as Report['type']];
  return Object.entries(shape).every(([name, fits]) => fits(fields[name])) ? (fields as Report) : null;
}

/** The call that a message which is no report seems to be about. */
export function callOf(message: unknown): number | null {
  const call = (message as { call?: unknown } | null)?.call;
  return count(call) ? call : null;
}
