import { DomainError } from '../shared/errors.js';
import { AnswerOutOfFormat, RefusedWithoutWords, StreamNotRead } from './errors.js';

/** The codes of errors that are the fault of one model, so that another model may answer the same call. */
const codes: readonly string[] = [
  'model_busy',
  'runtime_invalid_response',
  'runtime_loading',
  'runtime_stopped',
  'runtime_unavailable',
  'inference_timeout',
];

/** The errors with such a code for which the caller, the request or the content of the answer is the reason. */
const others = [AnswerOutOfFormat, RefusedWithoutWords, StreamNotRead];

/** Returns whether another model may answer a call that failed with this error before its first content. */
export const isFaultOfModel = (error: unknown): error is DomainError =>
  error instanceof DomainError && codes.includes(error.code) && !others.some((one) => error instanceof one);

/** Returns the code of an error, as jobs and metrics show it. */
export const codeOf = (error: unknown): string => (error instanceof DomainError ? error.code : 'internal_error');
