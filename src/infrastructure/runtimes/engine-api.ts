/** Describes an engine that runs elsewhere and speaks HTTP: its translation, its source and its settings. */
import type { z } from 'zod';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import type { RuntimeSource } from '../../domain/chat/runtime.js';
import type { RestartDelayBounds } from './restart-delays.js';

/** An engine elsewhere, as a model's spec names it. */
export interface HttpSource<Model> extends RuntimeSource {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** A secret: not for logs, errors and answers. */
  readonly key: string | null;
  /** The fields that only engines of this kind have. */
  readonly model: Model;
}

/** Translates between our requests and answers and those of one kind of engine. */
export interface EngineApi<Model> {
  /** The path of a GET request. The engine is ready if it answers with 2xx, 404 or 405. */
  readonly probePath: string;
  /** Matches the text of an answer with status 400, 404, 413 or 422 which says that the context is too small. */
  readonly contextExceeded: RegExp;
  /** Returns the headers of every request. */
  headers(key: string | null): Record<string, string>;
  /** Translates a request. `maxTokens` null leaves the length of the answer to the engine. */
  request(request: ChatRequest, model: Model): { readonly path: string; readonly body: object };
  /**
   * Returns the schema that turns the JSON of an answer with status 200 into a completion. Its messages continue the
   * sentence "The runtime gave no valid answer: ". They must not repeat anything of the answer.
   */
  answer(model: Model): z.ZodType<Completion>;
}

export interface EngineSettings {
  /** Calls that one engine works on at once. Default: 32. */
  readonly maxConcurrent: number;
  /** Calls that may wait while others are answered. */
  readonly queue: number;
  /** For an answer, waiting included. */
  readonly timeoutMs: number;
  /** For the answer to a probe. Default: 10 s. */
  readonly probeTimeoutMs: number;
  /** For loading its weights, as long as the engine answers that it is not ready yet. Default: 120 s. */
  readonly loadTimeoutMs: number;
  /** Between two probes of an engine that can't be used. Default: 0.5 s, up to 30 s. */
  readonly retryDelayMs: RestartDelayBounds;
}

export const usualEngineSettings = {
  maxConcurrent: 32,
  probeTimeoutMs: 10_000,
  loadTimeoutMs: 120_000,
  retryDelayMs: { first: 500, max: 30_000 },
};
