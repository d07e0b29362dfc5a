import { join } from 'node:path';
import type { Answer } from './answer.js';
import type { AnswerForm, Asked } from './asked.js';
import { Codec, type Received } from './codec.js';
import type { CodecAnswer, CodecQuestion, CodecSettings } from './codec-worker.js';
import { invalidRequest } from './findings.js';
import { Refusal } from './refusal.js';
import { buffersOf, bytesOf, type Tensors } from './tensors.js';
import { Thread } from './thread.js';

/** Bytes of JSON to read, or of tensors to write as JSON, that take a few milliseconds. */
const LARGE = 256 * 1_024;

/** What a body within the limits takes, and more. */
const MEMORY_MB = 1_024;

/** Says when the caller is gone; at once where that has been. */
type WhenLeft = (left: () => void) => void;

interface Job {
  readonly question: CodecQuestion;
  readonly transfer: ArrayBuffer[];
  readonly settle: (answer: CodecAnswer | Error) => void;
}

/** The codec, in a thread of its own for what is large: meanwhile this one answers others. */
export class Codecs {
  private readonly codec: Codec;
  private thread: Thread<CodecQuestion, CodecAnswer> | null = null;
  /** Here and not with the thread, so that they outlive it. */
  private waiting: Job[] = [];
  private current: Job | null = null;

  constructor(
    private readonly settings: CodecSettings,
    private readonly program = join(__dirname, 'codec-worker.js'),
    private readonly memoryMb = MEMORY_MB,
  ) {
    this.codec = new Codec(settings.signature, settings.name);
  }

  /** Throws a Refusal. The memory of the body is given away. */
  async decode(received: Received, whenLeft: WhenLeft): Promise<Asked> {
    const { body, jsonLength } = received;
    if ((jsonLength ?? body.length) < LARGE) return this.codec.decode(received);
    const answer = await this.ask({ type: 'decode', received }, [body.buffer as ArrayBuffer], whenLeft);
    if (answer.type !== 'decoded') throw new Error(`a body was answered with ${answer.type}`);
    return answer.asked;
  }

  /** Throws a Refusal. The memory of the outputs is given away. */
  async encode(form: AnswerForm, outputs: Tensors, whenLeft: WhenLeft): Promise<Answer> {
    const asText = form.outputs.filter(({ binary }) => !binary).flatMap(({ index }) => outputs[index] ?? []);
    if (bytesOf(asText) < LARGE) return this.codec.encode(form, outputs);
    const answer = await this.ask({ type: 'encode', form, outputs }, buffersOf(outputs), whenLeft);
    if (answer.type !== 'encoded') throw new Error(`outputs were answered with ${answer.type}`);
    return answer.answer;
  }

  /** Ends the thread; what it was asked stays without an answer. */
  async close(): Promise<void> {
    const { thread } = this;
    this.thread = null;
    await thread?.end();
  }

  private async ask(question: CodecQuestion, transfer: ArrayBuffer[], whenLeft: WhenLeft): Promise<CodecAnswer> {
    const answer = await new Promise<CodecAnswer>((resolve, reject) => {
      const settle = (result: CodecAnswer | Error) => (result instanceof Error ? reject(result) : resolve(result));
      const job = { question, transfer, settle };
      this.waiting.push(job);
      whenLeft(() => this.forget(job));
      this.advance();
    });
    if (answer.type === 'refused') throw new Refusal(answer.code, answer.message, {}, answer.details);
    return answer;
  }

  private forget(job: Job): void {
    if (!this.waiting.includes(job)) return;
    this.waiting = this.waiting.filter((one) => one !== job);
    job.settle(new Refusal('bad_request', 'The caller has left.'));
  }

  private advance(): void {
    const job = this.current ? undefined : this.waiting.shift();
    if (!job) return;
    this.current = job;
    this.thread ??= this.begin();
    void this.thread.ask(job.question, job.transfer).then((answer) => this.finish(answer));
  }

  private finish(result: CodecAnswer | Error): void {
    const job = this.current;
    this.current = null;
    job?.settle(result);
    this.advance();
  }

  private begin(): Thread<CodecQuestion, CodecAnswer> {
    const died = (error: NodeJS.ErrnoException) => {
      if (this.thread !== thread) return;
      this.thread = null;
      this.finish(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error);
    };
    const limits = { maxOldGenerationSizeMb: this.memoryMb };
    const thread = new Thread<CodecQuestion, CodecAnswer>(this.program, this.settings, died, limits);
    return thread;
  }
}

const tooMuch = (): Refusal =>
  invalidRequest([{ path: 'body', message: 'takes too much memory as JSON; use binary data, or smaller tensors' }]);
