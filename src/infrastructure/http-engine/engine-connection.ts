/** Calls one engine elsewhere. Turns its answers into completions, and its failures into errors for callers. */
import type { z } from 'zod';
import type { JsonSchemas, Tracer } from '../../application/shared/ports.js';
import {
  type ChatRequest,
  type Completion,
  type CompletionEnd,
  type CompletionPart,
  mostTokens,
} from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import {
  AnswerOutOfFormat,
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeUnavailable,
  WrongTask,
} from '../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import {
  ConnectionFailed,
  causeOf,
  type HttpAnswer,
  HttpClient,
  type HttpStream,
  InvalidAnswer,
  retryAfterOf,
  textOf,
} from '../http-client/http-client.js';
import { linesOf } from '../http-client/json-lines.js';
import { eventsOf } from '../http-client/server-sent-events.js';
import type { EngineChunk, EngineDialect } from './engine-dialect.js';
import type { HttpSource } from './engine-spec.js';

const KEY_REFUSED = 'the engine refused the key';
const TEXT_TOO_LONG = "input has a text that is over the model's context.";
/** llama.cpp and others answer with status 503 while they load their weights. */
export const NOT_READY = 'the engine answers that it is not ready yet (status 503)';

/** The engine can't be reached, or refused the key. Other calls may fail as well. */
export class EngineLost extends RuntimeUnavailable {}

/** The most characters of an answer with a strict format. An answer of 4,096 tokens is far shorter. */
const LONGEST_CHECKED = 4_000_000;

const framings = {
  events: { accept: 'text/event-stream', read: eventsOf },
  lines: { accept: 'application/x-ndjson', read: linesOf },
};

/** A part of an answer, with its length on the wire in characters. */
export interface ReceivedPart {
  readonly part: CompletionPart;
  readonly size: number;
}

export class EngineConnection<Model> {
  private readonly client: HttpClient;
  private readonly answer: z.ZodType<Completion>;
  private readonly chunk: z.ZodType<EngineChunk> | undefined;

  constructor(
    private readonly source: HttpSource<Model>,
    private readonly dialect: EngineDialect<Model>,
    private readonly schemas: JsonSchemas,
    /** Returns the error for the caller if a busy engine does not say how long to wait. */
    private readonly busy: () => ModelBusy,
    tracer?: Tracer,
  ) {
    this.client = new HttpClient(source.baseUrl, dialect.headers(source.key), tracer);
    this.answer = dialect.answer(source.model);
    this.chunk = dialect.chunk?.(source.model);
  }

  close(): void {
    this.client.close();
  }

  async complete(request: ChatRequest, signal: AbortSignal): Promise<Completion> {
    try {
      await this.requireSchema(request);
      const text = await textOf(await this.post(request, signal, false));
      const completion = read(this.answer, text, 'it is not a completion.');
      const answer = new AnswerCheck(request);
      answer.add(completion);
      answer.end(completion.finishReason);
      const requested = answer.requested(completion);
      await this.requireFormat(request, requested);
      return requested;
    } catch (error) {
      throw errorFor(error);
    }
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<Embeddings> {
    const translated = this.dialect.embeddings?.(request, this.source.model);
    if (!translated) throw new WrongTask('chat');
    const { path, body: json, answer: schema } = translated;
    try {
      const answer = await this.client.send({ method: 'POST', path, json, signal });
      if (this.isTooLong(answer)) throw new ContextLengthExceeded(TEXT_TOO_LONG, 'input');
      if (answer.status !== 200) throw this.refusal(answer);
      return read(schema, answer.text, 'it is no list of embeddings.');
    } catch (error) {
      throw errorFor(error);
    }
  }

  /**
   * Yields the answer in parts. The last part has the end. The engine has to wait while nobody takes parts. If the
   * engine has no chunks, the whole answer is one part.
   */
  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ReceivedPart> {
    if (this.chunk) {
      try {
        yield* this.chunks(this.chunk, request, signal);
      } catch (error) {
        throw errorFor(error);
      }
    } else {
      const { finishReason, usage, toolCalls = [], ...part } = await this.complete(request, signal);
      const calls = toolCalls.map((call, index) => ('json' in call ? call : { index, ...call }));
      yield { part: { ...part, ...(calls.length > 0 && { toolCalls: calls }), end: { finishReason, usage } }, size: 0 };
    }
  }

  /** Returns why the engine can't be used, or null. */
  async problem(signal: AbortSignal): Promise<string | null> {
    try {
      const { status } = await this.client.send({ method: 'GET', path: this.dialect.probePath, signal });
      if (status === 401 || status === 403) return KEY_REFUSED;
      if (status === 503) return NOT_READY;
      const isThere = (status >= 200 && status < 300) || status === 404 || status === 405;
      return isThere ? null : `the engine answers with status ${status}`;
    } catch (error) {
      if (error instanceof ConnectionFailed) return causeOf(error);
      return error instanceof InvalidAnswer ? null : 'the engine does not answer';
    }
  }

  private async *chunks(
    schema: z.ZodType<EngineChunk>,
    request: ChatRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ReceivedPart> {
    const answer = new AnswerCheck(request);
    let reason: CompletionEnd['finishReason'] | null = null;
    let usage: CompletionEnd['usage'] = null;
    let text = '';
    await this.requireSchema(request);
    const isStrict = strictSchema(request) !== null;
    for await (const data of framings[this.dialect.framing].read(await this.post(request, signal, true))) {
      if (data === '[DONE]') break;
      const chunk = read(schema, data, 'it has an event that is not part of a completion.');
      const { finishReason, usage: counted, ...part } = chunk;
      if (reason && part.text !== '') throw new RuntimeInvalidResponse('it goes on after its end.');
      if (answer.add(part)) yield { part: answer.requested(part), size: data.length };
      reason = finishReason ?? reason;
      usage = counted ?? usage;
      if (isStrict) text += part.text;
      if (text.length > LONGEST_CHECKED) throw new RuntimeInvalidResponse('it is too long to be checked.');
    }
    const end = { finishReason: answer.end(reason), usage };
    await this.requireFormat(request, { text, ...end });
    yield { part: { text: '', end }, size: 0 };
  }

  /** Throws InvalidRequest if the schema of a strict format cannot be used. */
  private async requireSchema(request: ChatRequest): Promise<void> {
    const schema = strictSchema(request);
    const message = schema && (await this.schemas.problem(schema));
    if (message) throw new InvalidRequest([{ path: 'response_format.json_schema.schema', message }]);
  }

  /** Throws AnswerOutOfFormat if a complete answer is not in its strict format. */
  private async requireFormat(request: ChatRequest, completion: Completion): Promise<void> {
    const schema = completion.finishReason === 'stop' ? strictSchema(request) : null;
    if (schema && !(await this.schemas.accepts(schema, completion.text))) throw new AnswerOutOfFormat(completion);
  }

  /**
   * Sends a request, and resolves to an answer with status 200. If `maxTokens` does not fit the context and the caller
   * accepts a shorter answer, sends the request again without `maxTokens`.
   */
  private async post(request: ChatRequest, signal: AbortSignal, stream: boolean): Promise<HttpStream> {
    const { maxTokens, cutToContext = maxTokens === null } = request;
    const answer = await this.send({ ...request, maxTokens: mostTokens(request) }, signal, stream);
    if (answer.status === 200) return answer;
    const text = await textOf(answer);
    if (!cutToContext || !this.isTooLong({ ...answer, text })) throw this.refusal({ ...answer, text });
    const second = await this.send({ ...request, maxTokens: null }, signal, stream);
    if (second.status === 200) return second;
    throw this.refusal({ ...second, text: await textOf(second) });
  }

  private send(request: ChatRequest, signal: AbortSignal, stream: boolean): Promise<HttpStream> {
    const { path, body: json } = this.dialect.request(request, this.source.model, stream);
    const headers = { Accept: stream ? framings[this.dialect.framing].accept : 'application/json' };
    return this.client.stream({ method: 'POST', path, headers, json, signal });
  }

  private isTooLong({ status, text }: HttpAnswer): boolean {
    return [400, 404, 413, 422].includes(status) && this.dialect.contextExceeded.test(text);
  }

  /** Returns the error for the caller of a call that the engine did not answer with 200. */
  private refusal(answer: HttpAnswer): DomainError {
    const { status, headers } = answer;
    const wait = retryAfterOf(headers);
    if (status === 429) return wait === null ? this.busy() : new ModelBusy(wait);
    if (status === 503) return wait === null ? new RuntimeUnavailable('the engine says so.') : new RuntimeLoading(wait);
    if (status === 401 || status === 403) return new EngineLost(KEY_REFUSED);
    if (status === 408 || status === 504) return new InferenceTimeout();
    if (this.isTooLong(answer))
      return new ContextLengthExceeded("The prompt, or prompt and max_tokens, is over the model's context.");
    if (status >= 300 && status < 400) return new RuntimeInvalidResponse('it redirects, which is not followed.');
    return new RuntimeInvalidResponse(`its engine answered with status ${status}.`);
  }
}

/** Returns the schema of a strict format. Returns null without one, or with a stop text, which may cut the answer. */
function strictSchema({ responseFormat: format, sampling }: ChatRequest): JsonObject | null {
  return format?.json === 'schema' && format.strict && !sampling?.stop ? format.schema : null;
}

type Content = Pick<CompletionPart, 'text' | 'logprobs'> & { readonly toolCalls?: readonly unknown[] };

/** Compares an answer, or its parts one after another, with the request. Its methods throw RuntimeInvalidResponse. */
class AnswerCheck {
  private hasText = false;
  private callsTools = false;

  constructor(private readonly request: ChatRequest) {}

  /** Adds a part. Returns false if it is empty. */
  add({ text, toolCalls = [], logprobs = [] }: Content): boolean {
    if (toolCalls.length > 0 && this.request.tools === undefined)
      throw new RuntimeInvalidResponse('it calls a tool, but the request has none.');
    this.hasText ||= text !== '';
    this.callsTools ||= toolCalls.length > 0;
    return text !== '' || toolCalls.length > 0 || logprobs.length > 0;
  }

  end(reason: CompletionEnd['finishReason'] | null): CompletionEnd['finishReason'] {
    if (reason === null) throw new RuntimeInvalidResponse('it ended without a reason.');
    if (!this.hasText && !this.callsTools) throw new RuntimeInvalidResponse('it has no text of the assistant.');
    if (reason === 'tool_calls' && !this.callsTools) throw new RuntimeInvalidResponse('it calls no tool at its end.');
    return reason;
  }

  /** Returns the part. Removes probabilities if the request does not ask for them. */
  requested<T extends Content>({ logprobs, ...part }: T): Omit<T, 'logprobs'> & Pick<Content, 'logprobs'> {
    return this.request.sampling?.topLogprobs === undefined || !logprobs ? part : { ...part, logprobs };
  }
}

function read<T>(schema: z.ZodType<T>, text: string, problem: string): T {
  const { data, error } = schema.safeParse(jsonOf(text));
  if (error) throw new RuntimeInvalidResponse(error.issues[0]?.message ?? problem);
  return data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorFor(error: unknown): unknown {
  if (error instanceof InvalidAnswer) return new RuntimeInvalidResponse(error.problem);
  return error instanceof ConnectionFailed ? new EngineLost(causeOf(error)) : error;
}
