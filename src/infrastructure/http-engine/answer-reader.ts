import type { z } from 'zod';
import { RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { LargeBodyThread } from '../system/worker-thread.js';
import { PackedLogprobs, readJson } from './answer-reading.js';
import type { ReadOrder, ReadResult, SchemaName } from './answer-thread.js';

/** From this number of bytes on, another thread reads a whole answer. */
const LARGE_ANSWER = 256 * 1_024;
/** An event of a stream is one of many, so the thread reads it from fewer bytes on. */
const LARGE_EVENT = 32 * 1_024;
/** The memory of the thread. No answer within the limits needs this much. */
const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/** The schema of an answer, and the words for an answer that breaks it. */
export interface AnswerSchema<T> {
  readonly schema: z.ZodType<T>;
  /** The name of the same schema for the thread. If null, a large answer is refused. */
  readonly name: SchemaName | null;
  /** Says what is wrong if the schema does not. Continues "The runtime gave no valid answer: ". */
  readonly problem: string;
}

/** Reads small answers of engines on this thread, and large ones one after another in another thread. */
export class AnswerReader {
  private readonly thread: LargeBodyThread<ReadOrder, ReadResult>;

  /** `program` is the path of the compiled `answer-thread`. */
  constructor(program: string) {
    this.thread = new LargeBodyThread(program, LIMITS);
  }

  /** Reads a whole answer. Takes over its memory. Throws RuntimeInvalidResponse, and the reason of the signal. */
  async answer<T extends object>(form: AnswerSchema<T>, bytes: Uint8Array, signal: AbortSignal): Promise<T> {
    if (bytes.length < LARGE_ANSWER)
      return checked<T>(readJson(form.schema, new TextDecoder().decode(bytes), form.problem));
    return this.inThread(form, bytes, signal);
  }

  /** Reads an event of a stream. Throws what `answer` throws. */
  async event<T extends object>(form: AnswerSchema<T>, text: string, signal: AbortSignal): Promise<T> {
    if (text.length < LARGE_EVENT) return checked<T>(readJson(form.schema, text, form.problem));
    const { logprobs, ...event }: T & { logprobs?: Iterable<unknown> } = await this.inThread(
      form,
      Buffer.from(text),
      signal,
    );
    return (logprobs ? { ...event, logprobs: [...logprobs] } : event) as T;
  }

  private async inThread<T extends object>(
    { name, problem }: AnswerSchema<T>,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<T> {
    if (name === null) throw new RuntimeInvalidResponse('it is too long.');
    const result = await this.thread.send({ schema: name, bytes, problem }, bytes, signal);
    if (result === null) throw new RuntimeInvalidResponse('it takes too much memory.');
    const value = checked<T>(result);
    return result.logprobs ? { ...value, logprobs: new PackedLogprobs(result.logprobs) } : value;
  }
}

function checked<T>(result: ReadResult): T {
  if ('problem' in result) throw new RuntimeInvalidResponse(result.problem);
  return result.value as T;
}
