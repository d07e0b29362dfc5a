import { RuntimeInvalidResponse } from '../../../domain/chat/errors.js';
import { invalidRequest, RequestError } from '../process/request-error.js';
import { WorkerThread } from '../process/threads.js';
import { answerOf, type EngineRequest, requestOf, WrongAnswer } from './translation.js';
import type { Translated, TranslationOrder } from './translation-thread.js';

/** From this number of bytes on, a translation takes milliseconds, so the thread does it. */
const LARGE = 256 * 1_024;
/** The memory of the thread. No body within the limits needs this much. */
const LIMITS = { maxOldGenerationSizeMb: 1_024 };
const TOO_MUCH = 'takes too much memory as JSON; use binary data, or smaller tensors';

/** Translates small bodies on this thread, and large bodies one after another in another thread. */
export class Translator {
  private thread: WorkerThread<TranslationOrder, Translated> | null = null;
  private latest: Promise<unknown> = Promise.resolve();
  private fail: (error: Error) => void = () => undefined;

  /** `program` is the path of the compiled `translation-thread`. */
  constructor(private readonly program: string) {}

  /** Calls `requestOf` with these arguments. Takes over the memory of the body. */
  async request(...args: Parameters<typeof requestOf>): Promise<EngineRequest> {
    if (args[0].bytes.length < LARGE) return requestOf(...args);
    const translated = await this.inTurn({ type: 'request', args }, args[0].bytes);
    if (translated.type === 'request') return translated.result;
    throw invalidRequest([{ path: 'body', message: TOO_MUCH }]);
  }

  /** Calls `answerOf`, but throws RuntimeInvalidResponse for WrongAnswer. Takes over the memory of the answer. */
  async answer(...args: Parameters<typeof answerOf>): Promise<ReturnType<typeof answerOf>> {
    try {
      if (args[0].bytes.length < LARGE) return answerOf(...args);
      const translated = await this.inTurn({ type: 'answer', args }, args[0].bytes);
      if (translated.type === 'answer') return translated.result;
      throw new WrongAnswer(`it ${TOO_MUCH}.`);
    } catch (error) {
      throw error instanceof WrongAnswer ? new RuntimeInvalidResponse(error.message) : error;
    }
  }

  /** Ends the thread. Its running translation fails. */
  async close(): Promise<void> {
    await this.thread?.terminate();
  }

  /** Runs one translation after another in the thread. Resolves to `too much` if the thread runs out of memory. */
  private async inTurn(
    order: TranslationOrder,
    bytes: Uint8Array,
  ): Promise<Translated | { readonly type: 'too much' }> {
    const turn = this.latest.then(() => this.inThread(order, bytes));
    this.latest = turn.catch(() => undefined);
    const translated = await turn.catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return { type: 'too much' } as const;
      throw error;
    });
    if (translated.type === 'wrong') throw new WrongAnswer(translated.message);
    if (translated.type !== 'refused') return translated;
    throw new RequestError(translated.code, translated.message, {}, translated.details);
  }

  private inThread(order: TranslationOrder, { buffer, byteLength }: Uint8Array): Promise<Translated> {
    return new Promise((resolve, reject) => {
      this.fail = reject;
      const onDeath = (error: Error) => {
        this.thread = null;
        this.fail(error);
      };
      this.thread ??= new WorkerThread(this.program, null, onDeath, LIMITS);
      const transfer = buffer.byteLength === byteLength ? [buffer as ArrayBuffer] : [];
      this.thread.send(order, transfer).then(resolve, reject);
    });
  }
}
