/** Calls one engine elsewhere. Turns its answers into completions, and its failures into errors for callers. */
import { z } from 'zod';
import { type Reservation, SMALL_BYTES } from '../../application/shared/memory-budget.js';
import type { JsonSchemas, Tracer } from '../../application/shared/ports.js';
import {
  type ChatRequest,
  type Completion,
  type CompletionEnd,
  type CompletionPart,
  mostTokens,
  type VerbatimRequest,
} from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { ContextLengthExceeded, ModelBusy, RuntimeInvalidResponse, WrongTask } from '../../domain/chat/errors.js';
import type { DomainError } from '../../domain/shared/errors.js';
import { TextCollector } from '../../domain/shared/text-collector.js';
import { collected } from '../http-client/collected.js';
import { engineLookup } from '../http-client/engine-lookup.js';
import {
  ConnectionFailed,
  causeOf,
  discard,
  type HttpAnswer,
  HttpClient,
  type HttpStream,
  InvalidAnswer,
} from '../http-client/http-client.js';
import { linesOf } from '../http-client/json-lines.js';
import { readingPace } from '../http-client/reading-pace.js';
import { eventsOf, LONGEST_EVENT } from '../http-client/server-sent-events.js';
import { AnswerCheck } from './answer-check.js';
import type { AnswerReader, AnswerSchema } from './answer-reader.js';
import type { SchemaName } from './answer-thread.js';
import type { EngineChunk, EngineDialect, Wanted } from './engine-dialect.js';
import { EngineRefusals, errorFor, KEY_REFUSED, withText } from './engine-refusals.js';
import type { HttpSource } from './engine-spec.js';
import { StrictFormat, strictSchema } from './strict-format.js';

const TEXT_TOO_LONG = "input has a text that is over the model's context.";
/** llama.cpp and others answer with status 503 while they load their weights. */
export const NOT_READY = 'the engine answers that it is not ready yet (status 503)';

const LONGEST_ANSWER = 8 * 1024 * 1024;
/** The most characters of an answer with a strict format. An answer of 4,096 tokens is far shorter. */
const LONGEST_CHECKED = 1_000_000;
/** The most chunks without content that wait for the first content. */
const MOST_OPENING = 16;
/** The work for an event, as bytes to read. */
const EVENT_WORK = 256;
/** Log probabilities as objects take about so many times the memory of their text. */
const LOGPROBS_GROW = 8;

const framings = {
  events: { accept: 'text/event-stream', read: eventsOf },
  lines: { accept: 'application/x-ndjson', read: linesOf },
};

/** A part of an answer, with its length on the wire in characters. */
export interface ReceivedPart {
  readonly part: CompletionPart;
  readonly size: number;
}

/** The caller, the end and the memory of a call. The answer counts against `memory`. */
export interface Reading {
  readonly caller: string;
  readonly signal: AbortSignal;
  readonly memory: Reservation;
}

interface Tools {
  readonly schemas: JsonSchemas;
  readonly answers: AnswerReader;
  readonly tracer?: Tracer;
}

export class EngineConnection<Model> {
  private readonly client: HttpClient;
  private readonly strict: StrictFormat;
  private readonly refusals: EngineRefusals;
  /** The forms by what is wanted. There are few, because a wish is only yes or no. */
  private readonly forms = new Map<string, AnswerSchema<unknown>>();

  constructor(
    private readonly source: HttpSource<Model>,
    private readonly dialect: EngineDialect<Model>,
    private readonly tools: Tools,
    /** Returns the error for the caller if a busy engine does not say how long to wait. */
    busy: () => ModelBusy,
  ) {
    this.client = new HttpClient(source.baseUrl, dialect.headers(source.key), tools.tracer, engineLookup);
    this.strict = new StrictFormat(tools.schemas);
    this.refusals = new EngineRefusals(dialect.contextExceeded, source.key, busy);
  }

  close(): void {
    this.client.close();
  }

  async complete(request: ChatRequest, reading: Reading): Promise<Completion> {
    try {
      await this.strict.requireUsable(request, reading.caller);
      const form = this.form('answer', wantedBy(request), (wanted) => this.dialect.answer(this.source.model, wanted));
      const completion = await this.whole(form, await this.post(request, reading.signal, false), reading);
      const { logprobs: _, ...content } = completion;
      const answer = new AnswerCheck(request);
      answer.add(content);
      answer.end(content.finishReason);
      await this.strict.requireKept(request, completion, reading.caller);
      return completion;
    } catch (error) {
      throw errorFor(error);
    }
  }

  async embed(request: EmbeddingRequest, reading: Reading): Promise<Embeddings> {
    const translated = this.dialect.embeddings?.(request, this.source.model);
    if (!translated) throw new WrongTask('chat');
    const { path, body: json, args, answer: schema } = translated;
    try {
      const answer = await this.client.stream({ method: 'POST', path, json, signal: reading.signal });
      if (answer.status === 200) return await this.whole(this.formOf('embeddings', schema, ...args), answer, reading);
      const refused = await withText(answer);
      if (this.refusals.isTooLong(refused)) throw new ContextLengthExceeded(TEXT_TOO_LONG, 'input');
      throw request.verbatim ? this.refusals.inItsWords(refused) : this.refusals.of(refused);
    } catch (error) {
      throw errorFor(error);
    }
  }

  /**
   * Yields the answer in parts. The last part has the end. The engine has to wait while nobody takes parts. If the
   * engine has no chunks, the whole answer is one part.
   */
  async *stream(request: ChatRequest, reading: Reading): AsyncGenerator<ReceivedPart> {
    const { chunk } = this.dialect;
    if (chunk) {
      try {
        const form = this.form('chunk', wantedBy(request), (wanted) =>
          chunk.call(this.dialect, this.source.model, wanted),
        );
        yield* this.chunks(form, request, reading);
      } catch (error) {
        throw errorFor(error);
      }
    } else {
      const {
        finishReason,
        stopText,
        usage,
        toolCalls = [],
        logprobs,
        ...part
      } = await this.complete(request, reading);
      const stopped = stopText !== undefined && { stopText };
      const calls = toolCalls.map((call, index) => ({ index, ...call }));
      const more = { ...(calls.length > 0 && { toolCalls: calls }), ...(logprobs && { logprobs: [...logprobs] }) };
      yield { part: { ...part, ...more, end: { finishReason, ...stopped, usage } }, size: 0 };
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
    form: AnswerSchema<EngineChunk>,
    request: ChatRequest,
    reading: Reading,
  ): AsyncGenerator<ReceivedPart> {
    const { signal, memory } = reading;
    const answer = new AnswerCheck(request);
    let reason: CompletionEnd['finishReason'] | null = null;
    let usage: CompletionEnd['usage'] = null;
    let stopped: Pick<CompletionEnd, 'stopText'> = {};
    const text = new TextCollector(LONGEST_CHECKED);
    let isHeld = false;
    // So that a failure before the first content is an ordinary refusal, and the time to the first token is right.
    const opening: ReceivedPart[] = [];
    await this.strict.requireUsable(request, reading.caller);
    const isStrict = strictSchema(request) !== null;
    for await (const data of framings[this.dialect.framing].read(await this.post(request, signal, true))) {
      if (data === '[DONE]') break;
      await readingPace.take(EVENT_WORK);
      if (!isHeld && Math.max(data.length, text.length) > SMALL_BYTES) {
        const checkedBytes = isStrict ? 4 * LONGEST_CHECKED : 0; // the text in UTF-16, and its copy for the check
        await memory.reserveBytes(2 * LONGEST_EVENT + checkedBytes);
        isHeld = true;
      }
      const {
        finishReason,
        stopText,
        usage: counted,
        isOpening = false,
        ...part
      } = await this.tools.answers.event(form, data, signal);
      if (reason && part.text !== '' && !part.choice) throw new RuntimeInvalidResponse('it goes on after its end.');
      if (answer.add(part)) opening.push({ part, size: data.length * (part.logprobs ? LOGPROBS_GROW : 1) });
      if (!isOpening || opening.length > MOST_OPENING) yield* opening.splice(0);
      reason = finishReason ?? reason;
      if (stopText !== undefined) stopped = { stopText };
      usage = counted ?? usage;
      if (isStrict && !part.choice && !text.add(part.text))
        throw new RuntimeInvalidResponse('it is too long to be checked.');
    }
    const end = { finishReason: answer.end(reason), ...stopped, usage };
    yield* opening;
    await this.strict.requireKept(request, { text: text.joined, ...end }, reading.caller);
    yield { part: { text: '', end }, size: 0 };
  }

  /** Reads a whole answer. Reserves memory for it, and for the answer that is made of it. */
  private async whole<T extends object>(form: AnswerSchema<T>, answer: HttpStream, reading: Reading): Promise<T> {
    const { signal, memory } = reading;
    const { 'content-length': announced } = answer.headers;
    const body = { length: announced === undefined ? null : Number(announced), chunks: answer.body };
    const tooLong = () => new RuntimeInvalidResponse('it is too long.');
    const reserve = (bytes: number) => memory.growBytes(bytes <= SMALL_BYTES ? bytes : 2 * bytes);
    const bytes = await collected(body, { limit: LONGEST_ANSWER, tooLong, reserve }).finally(() => discard(answer));
    memory.lower(2 * bytes.length);
    return this.tools.answers.answer(form, bytes, signal);
  }

  /** Returns the form of an answer or of a chunk. It is made once, because a new schema takes long to parse. */
  private form<T>(
    name: 'answer' | 'chunk',
    wanted: Wanted,
    schemaOf: (wanted: Wanted) => z.ZodType<T>,
  ): AnswerSchema<T> {
    const key = JSON.stringify([name, wanted]);
    const known = this.forms.get(key) as AnswerSchema<T> | undefined;
    const form = known ?? this.formOf(name, schemaOf(wanted), this.source.model, wanted);
    this.forms.set(key, form);
    return form;
  }

  private formOf<T>(name: SchemaName['name'], schema: z.ZodType<T>, ...args: readonly unknown[]): AnswerSchema<T> {
    const { module } = this.dialect;
    return { schema, name: module === null ? null : { module, name, args }, problem: NOT_READ[name] };
  }

  /**
   * Sends a request, and resolves to an answer with status 200. If `maxTokens` does not fit the context and the caller
   * accepts a shorter answer, sends the request again without `maxTokens`. The same is true for the bound of a budget: an
   * answer that fits the context is then shorter than the bound.
   */
  private async post(request: ChatRequest, signal: AbortSignal, stream: boolean): Promise<HttpStream> {
    const { maxTokens, cutToContext = maxTokens === null, verbatim } = request;
    // Without a limit of its own, the answer ends where the engine ends it.
    const most = request.cutToContext ? maxTokens : mostTokens(request);
    const answer = await this.send(verbatim ? request : { ...request, maxTokens: most }, signal, stream);
    if (answer.status === 200) return answer;
    const refused = await withText(answer);
    const { mostTokens: ofBudget, ...unbounded } = verbatim ?? {};
    const own = [verbatim?.json.max_completion_tokens, verbatim?.json.max_tokens];
    const isExact = verbatim ? ofBudget === undefined || own.includes(ofBudget) : !cutToContext;
    if (isExact || !this.refusals.isTooLong(refused)) throw this.refusalOf(request, refused);
    const again = { ...request, maxTokens: null, ...(verbatim && { verbatim: unbounded as VerbatimRequest }) };
    const second = await this.send(again, signal, stream);
    if (second.status === 200) return second;
    throw this.refusalOf(request, await withText(second));
  }

  /** The engine's words are for callers who can ask for what it has words about: not on the project's own route. */
  private refusalOf({ verbatim, cutToContext }: ChatRequest, refused: HttpAnswer): DomainError {
    return verbatim || cutToContext ? this.refusals.inItsWords(refused) : this.refusals.of(refused);
  }

  private send(request: ChatRequest, signal: AbortSignal, stream: boolean): Promise<HttpStream> {
    const { path, body: json } = this.dialect.request(request, this.source.model, stream);
    const headers = { Accept: stream ? framings[this.dialect.framing].accept : 'application/json' };
    return this.client.stream({ method: 'POST', path, headers, json, signal });
  }
}

const NOT_READ = {
  answer: 'it is not a completion.',
  chunk: 'it has an event that is not part of a completion.',
  embeddings: 'it is no list of embeddings.',
} as const;

const wantedBy = ({ sampling, verbatim, texts }: ChatRequest): Wanted => ({
  ...(texts && { texts: true }),
  logprobs: !verbatim && sampling?.topLogprobs !== undefined,
  verbatim: verbatim ? { usage: verbatim.wantsUsage } : null,
});
