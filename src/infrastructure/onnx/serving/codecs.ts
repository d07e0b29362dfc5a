import { join } from 'node:path';
import type { Answer } from './answer.js';
import type { AnswerForm, Asked } from './asked.js';
import { Codec, type Received } from './codec.js';
import type { CodecAnswer, CodecQuestion, CodecSettings } from './codec-worker.js';
import { Refusal } from './refusal.js';
import { buffersOf, bytesOf, type Tensors } from './tensors.js';
import { Thread } from './thread.js';

/** Bytes of JSON to read, or of tensors to write as JSON, that take a few milliseconds. */
const LARGE = 256 * 1_024;

/** The codec, in a thread of its own for what is large: meanwhile this one answers others. */
export class Codecs {
  private readonly codec: Codec;
  private thread: Thread<CodecQuestion, CodecAnswer> | null = null;

  constructor(
    private readonly settings: CodecSettings,
    private readonly died: (error: Error) => void,
  ) {
    this.codec = new Codec(settings.signature, settings.name);
  }

  /** Throws a Refusal. The memory of the body is given away. */
  async decode(received: Received): Promise<Asked> {
    const { body, jsonLength } = received;
    if ((jsonLength ?? body.length) < LARGE) return this.codec.decode(received);
    const answer = await this.ask({ type: 'decode', received }, [body.buffer as ArrayBuffer]);
    if (answer.type !== 'decoded') throw new Error(`a body was answered with ${answer.type}`);
    return answer.asked;
  }

  /** Throws a Refusal. The memory of the outputs is given away. */
  async encode(form: AnswerForm, outputs: Tensors): Promise<Answer> {
    const asText = form.outputs.filter(({ binary }) => !binary).flatMap(({ index }) => outputs[index] ?? []);
    if (bytesOf(asText) < LARGE) return this.codec.encode(form, outputs);
    const answer = await this.ask({ type: 'encode', form, outputs }, buffersOf(outputs));
    if (answer.type !== 'encoded') throw new Error(`outputs were answered with ${answer.type}`);
    return answer.answer;
  }

  private async ask(question: CodecQuestion, transfer: ArrayBuffer[]): Promise<CodecAnswer> {
    this.thread ??= new Thread(join(__dirname, 'codec-worker.js'), this.settings, this.died);
    const answer = await this.thread.ask(question, transfer);
    if (answer.type === 'refused') throw new Refusal(answer.code, answer.message, {}, answer.details);
    return answer;
  }
}
