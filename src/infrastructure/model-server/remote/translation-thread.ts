/** The program of the thread that translates large bodies. The main thread stays free for other callers. */
import { parentPort } from 'node:worker_threads';
import type { Finding } from '../../../domain/shared/errors.js';
import { wholeBuffers } from '../../system/worker-thread.js';
import { type ErrorCode, RequestError } from '../process/request-error.js';
import { answerOf, requestOf, WrongAnswer } from './translation.js';

export type TranslationOrder =
  | { readonly type: 'request'; readonly args: Parameters<typeof requestOf> }
  | { readonly type: 'answer'; readonly args: Parameters<typeof answerOf> };

export type Translated =
  | { readonly type: 'request'; readonly result: ReturnType<typeof requestOf> }
  | { readonly type: 'answer'; readonly result: ReturnType<typeof answerOf> }
  | { readonly type: 'refused'; readonly code: ErrorCode; readonly message: string; readonly details?: Finding[] }
  | { readonly type: 'wrong'; readonly message: string };

parentPort?.on('message', (order: TranslationOrder) => {
  const translated = translate(order);
  parentPort?.postMessage(translated, wholeBuffers(bytesIn(translated)));
});

function translate(order: TranslationOrder): Translated {
  try {
    if (order.type === 'request') return { type: 'request', result: requestOf(...order.args) };
    return { type: 'answer', result: answerOf(...order.args) };
  } catch (error) {
    if (error instanceof WrongAnswer) return { type: 'wrong', message: error.message };
    if (!(error instanceof RequestError)) throw error;
    const { code, message, details } = error;
    return { type: 'refused', code, message, ...(details && { details: [...details] }) };
  }
}

function bytesIn(translated: Translated): readonly Uint8Array[] {
  if (translated.type === 'request') return [translated.result.bytes];
  return translated.type === 'answer' ? translated.result.parts : [];
}
