import type { z } from 'zod';
import type { ChatRequest, Completion, CompletionEnd, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import type { OptionalField } from '../../domain/chat/request-field.js';

/** The dialect of one kind of engine: translates requests for the engine, and translates its answers back. */
export abstract class EngineDialect<Model> {
  /** The path of a GET request. The engine is ready if it answers with 2xx, 404 or 405. */
  readonly probePath: string = '/';
  /** Recognizes that the context is too small, in the text of an answer with status 400, 404, 413 or 422. */
  abstract readonly contextExceeded: RegExp;

  /**
   * The optional fields that `request` translates. A request with another one is refused with UnsupportedParameter. The
   * other fields of a request have no choice: every engine has messages with a text, `maxTokens` and `temperature`.
   */
  abstract readonly supported: ReadonlySet<OptionalField>;

  /**
   * The dialect of the verbatim requests that `request` sends on. `request` gets no verbatim request in another dialect.
   */
  readonly verbatim: string = '';

  headers(key: string | null): Record<string, string> {
    return key === null ? {} : { Authorization: `Bearer ${key}` };
  }

  /**
   * Translates a request. If its `maxTokens` is null, the engine chooses the length of the answer. `stream` asks for
   * a stream of events. It is only true if the engine has `chunk`.
   */
  abstract request(
    request: ChatRequest,
    model: Model,
    stream: boolean,
  ): { readonly path: string; readonly body: object };

  /**
   * Returns the schema that turns the JSON of an answer with status 200 into a completion. Its messages continue the
   * sentence "The runtime gave no valid answer: ". They must not repeat anything of the answer.
   */
  abstract answer(model: Model, wanted: Wanted): z.ZodType<Completion>;

  /**
   * The compiled module, as a path below `dist/src`, that exports `schemas`: an object with the functions `answer`,
   * `chunk` and `embeddings`. Another thread reads large answers with it. Without a module they are refused.
   */
  readonly module: string | null = null;

  /** The form of a stream: server-sent events, or lines, each with the JSON of one event (newline-delimited JSON). */
  readonly framing: 'events' | 'lines' = 'events';

  /**
   * Returns the schema that turns the JSON of one event into its part of the answer. Its messages are like those of
   * `answer`. The stream ends with the event `[DONE]` or at the end of the body. If an engine lacks this method, the
   * whole answer is one part.
   */
  chunk?(model: Model, wanted: Wanted): z.ZodType<EngineChunk>;

  /** An engine without this method makes no embeddings. */
  embeddings?(request: EmbeddingRequest, model: Model): EngineEmbeddings;
}

/** The parts of an answer that not every request asks for. The schema must not read those that are not wanted. */
export interface Wanted {
  readonly logprobs: boolean;
  /** The answer of a verbatim request has its `verbatim`, with the usage of a stream or without. Null: it has none. */
  readonly verbatim: { readonly usage: boolean } | null;
  /** The request has texts in place of messages. */
  readonly texts?: true;
}

export interface EngineEmbeddings {
  readonly path: string;
  readonly body: object;
  /** The arguments of `embeddings` in the module of the dialect, which returns the same schema as `answer`. */
  readonly args: readonly unknown[];
  /** The schema of the answer. Its messages are like those of `EngineDialect.answer`. */
  readonly answer: z.ZodType<Embeddings>;
}

/** One event of an answer. It may add nothing to the text. */
export interface EngineChunk extends Omit<CompletionPart, 'end'> {
  /** The chunk has a `verbatim`, but nothing of the answer yet, such as a chunk with only the role. */
  readonly isOpening?: boolean;
  /** One chunk must have a reason. No text may follow that chunk. */
  readonly finishReason?: CompletionEnd['finishReason'] | null;
  /** The chunk with the reason may have the stop text that was reached. */
  readonly stopText?: string;
  /** If several chunks have a usage, the last usage is used. */
  readonly usage?: CompletionEnd['usage'];
}
