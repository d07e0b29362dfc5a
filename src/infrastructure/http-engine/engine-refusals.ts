/** Turns the answers with which an engine refuses a call into errors for the caller. */
import { z } from 'zod';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RefusedByEngine,
  RefusedWithoutWords,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeUnavailable,
} from '../../domain/chat/errors.js';
import type { DomainError } from '../../domain/shared/errors.js';
import {
  ConnectionFailed,
  causeOf,
  type HttpAnswer,
  type HttpStream,
  InvalidAnswer,
  retryAfterOf,
  textOf,
} from '../http-client/http-client.js';
import { jsonOf } from './answer-reading.js';

export const KEY_REFUSED = 'the engine refused the key';

/** The engine can't be reached, or refused the key. Other calls may fail as well. */
export class EngineLost extends RuntimeUnavailable {}

/** The statuses with which an engine says that the request is wrong. */
const WRONG_REQUEST: readonly number[] = [400, 413, 422];
/** The most characters of an engine's reason. */
const LONGEST_REASON = 2_000;

/** The forms of OpenAI and of older vLLM. */
const Reason = z.object({ message: z.string().min(1), param: z.string().nullish() });
const Refused = z.union([z.object({ error: Reason }).transform(({ error }) => error), Reason]);

export class EngineRefusals {
  constructor(
    private readonly contextExceeded: RegExp,
    private readonly key: string | null,
    /** Returns the error for the caller if a busy engine does not say how long to wait. */
    private readonly busy: () => ModelBusy,
  ) {}

  isTooLong({ status, text }: HttpAnswer): boolean {
    return [400, 404, 413, 422].includes(status) && this.contextExceeded.test(text);
  }

  of(answer: HttpAnswer): DomainError {
    const { status, headers } = answer;
    const wait = retryAfterOf(headers);
    if (status === 429) return wait === null ? this.busy() : new ModelBusy(wait);
    if (status === 503) return wait === null ? new RuntimeUnavailable('the engine says so.') : new RuntimeLoading(wait);
    if (status === 401 || status === 403) return new EngineLost(KEY_REFUSED);
    if (status === 408 || status === 504) return new InferenceTimeout();
    if (this.isTooLong(answer))
      return new ContextLengthExceeded("The prompt, or prompt and max_tokens, is over the model's context.");
    if (status >= 300 && status < 400) return new RuntimeInvalidResponse('it redirects, which is not followed.');
    if (WRONG_REQUEST.includes(status)) return new RefusedWithoutWords(status);
    return new RuntimeInvalidResponse(`its engine answered with status ${status}.`);
  }

  /** Passes on what the engine says about a wrong request. */
  inItsWords(answer: HttpAnswer): DomainError {
    const said = WRONG_REQUEST.includes(answer.status) ? this.reasonIn(answer.text) : null;
    if (said === null) return this.of(answer);
    return this.isTooLong(answer) ? new ContextLengthExceeded(said.message) : new RefusedByEngine(said);
  }

  /** Returns the engine's words without its key, or null for a text in another form. */
  private reasonIn(text: string): { readonly message: string; readonly param: string | null } | null {
    const { data } = Refused.safeParse(jsonOf(this.key ? text.replaceAll(this.key, '***') : text));
    return data ? { message: data.message.slice(0, LONGEST_REASON), param: data.param ?? null } : null;
  }
}

/** Returns the error for the caller of a call whose answer is invalid, or whose connection failed. */
export function errorFor(error: unknown): unknown {
  if (error instanceof InvalidAnswer) return new RuntimeInvalidResponse(error.problem);
  return error instanceof ConnectionFailed ? new EngineLost(causeOf(error)) : error;
}

const LONGEST_REFUSAL = 256 * 1024;

/** Returns a refusal with its text. The text is empty if it is too long. */
export async function withText(answer: HttpStream): Promise<HttpAnswer> {
  const text = await textOf(answer, LONGEST_REFUSAL).catch((error: unknown) => {
    if (error instanceof InvalidAnswer) return '';
    throw error;
  });
  return { ...answer, text };
}
