import { RuntimeInvalidResponse } from '../../../domain/chat/errors.js';
import { LargeBodyThread } from '../../system/worker-thread.js';
import { invalidRequest, RequestError } from '../process/request-error.js';
import { answerOf, type EngineRequest, requestOf, WrongAnswer } from './translation.js';
import type { Translated, TranslationOrder } from './translation-thread.js';

/** From this number of bytes on, a translation takes milliseconds, so the thread does it. */
const LARGE = 256 * 1_024;
/** The memory of the thread. No body within the limits needs this much. */
const LIMITS = { maxOldGenerationSizeMb: 1_024 };
const TOO_MUCH = 'takes too much memory as JSON; use binary data, or smaller tensors';

/** Translates small bodies on this thread, and large bodies one after another in another thread. */
export class Translator {
  private readonly thread: LargeBodyThread<TranslationOrder, Translated>;

  /** `program` is the path of the compiled `translation-thread`. */
  constructor(program: string) {
    this.thread = new LargeBodyThread(program, LIMITS);
  }

  /** Calls `requestOf` with these arguments. Takes over the memory of the body. Throws the reason of the signal. */
  async request(signal: AbortSignal, ...args: Parameters<typeof requestOf>): Promise<EngineRequest> {
    if (args[0].bytes.length < LARGE) return requestOf(...args);
    const translated = await this.inThread({ type: 'request', args }, args[0].bytes, signal);
    if (translated?.type === 'request') return translated.result;
    throw invalidRequest([{ path: 'body', message: TOO_MUCH }]);
  }

  /**
   * Calls `answerOf`, but throws RuntimeInvalidResponse for WrongAnswer. Takes over the memory of the answer. Throws the
   * reason of the signal.
   */
  async answer(signal: AbortSignal, ...args: Parameters<typeof answerOf>): Promise<ReturnType<typeof answerOf>> {
    try {
      if (args[0].bytes.length < LARGE) return answerOf(...args);
      const translated = await this.inThread({ type: 'answer', args }, args[0].bytes, signal);
      if (translated?.type === 'answer') return translated.result;
      throw new WrongAnswer(`it ${TOO_MUCH}.`);
    } catch (error) {
      throw error instanceof WrongAnswer ? new RuntimeInvalidResponse(error.message) : error;
    }
  }

  /** Ends the thread. Its running translation fails. */
  close(): Promise<void> {
    return this.thread.close();
  }

  /** Translates in the thread. Returns null if the thread runs out of memory. */
  private async inThread(order: TranslationOrder, bytes: Uint8Array, signal: AbortSignal): Promise<Translated | null> {
    const translated = await this.thread.send(order, bytes, signal);
    if (translated?.type === 'wrong') throw new WrongAnswer(translated.message);
    if (translated?.type !== 'refused') return translated;
    throw new RequestError(translated.code, translated.message, {}, translated.details);
  }
}
