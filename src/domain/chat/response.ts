import { DomainError } from '../shared/errors.js';
import type { JsonObject } from '../workspace/json.js';
import type { RequestMessage, TokenLogprob, ToolCall, Usage } from './chat.js';

/** `cancelled`: the caller ended a response in the background. `incomplete`: the answer reached its greatest length. */
export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

interface Placed {
  /** The place of the item in the stream, from 0 on. */
  readonly index: number;
  /** True if the item ended before it was complete. */
  readonly isCut?: true;
}

/** A part of an answer: what the model thought, what it says, or a tool that it calls. */
export type AnswerItem = Placed &
  (
    | { readonly kind: 'reasoning'; readonly text: string }
    | { readonly kind: 'text'; readonly text: string; readonly logprobs?: readonly TokenLogprob[] }
    | ({ readonly kind: 'call' } & ToolCall)
  );

export interface ResponseFailure {
  readonly code: string;
  readonly message: string;
  /** True if the model had too many calls. */
  readonly isBusy: boolean;
}

/** A request and its answer. It can be stored, and continued by a later request. Only its account can see it. */
export interface Response {
  readonly id: string;
  readonly accountId: string;
  readonly projectId: string;
  readonly status: ResponseStatus;
  /** True if no caller waits for the answer. */
  readonly background: boolean;
  /** The response that this one continues. */
  readonly previousId: string | null;
  /** The messages that this request adds to those before. */
  readonly messages: readonly RequestMessage[];
  /** Fields of the request that the answer repeats, in the words of its dialect. */
  readonly repeated: JsonObject;
  readonly output: readonly AnswerItem[];
  readonly usage: Usage | null;
  /** Only a response that `failed` has it. */
  readonly failure: ResponseFailure | null;
  readonly createdAt: Date;
  /** The time of the end. Null: the answer has not ended. */
  readonly finishedAt: Date | null;
}

/** The end of a response. */
export type ResponseEnd = Pick<Response, 'status' | 'output' | 'usage' | 'failure'>;

export const responseLimits = {
  /** The most bytes of an answer, as JSON. A longer answer ends there, and is incomplete. */
  answerBytes: 8 * 1024 * 1024,
  /** The most earlier responses that one request continues, or refers to, and the most bytes of them all. */
  earlier: 1_000,
  earlierBytes: 32 * 1024 * 1024,
  /** The most characters of a request, as JSON, that are stored with a response. The database takes long for more. */
  storedLength: 8 * 1024 * 1024,
} as const;

export const Response = {
  isOpen: ({ status }: Pick<Response, 'status'>): boolean => status === 'queued' || status === 'in_progress',

  /** Returns the message of an answer, as a later request repeats it. An empty answer has no message. */
  messageOf(output: readonly AnswerItem[]): RequestMessage[] {
    const texts = output.flatMap((item) => (item.kind === 'text' ? [item.text] : []));
    const thoughts = output.flatMap((item) => (item.kind === 'reasoning' ? [item.text] : []));
    const toolCalls = output.flatMap((item) =>
      item.kind === 'call' ? [{ id: item.id, name: item.name, arguments: item.arguments }] : [],
    );
    if (output.length === 0) return [];
    return [
      {
        role: 'assistant',
        content: texts.join(''),
        ...(texts.length === 0 && { parts: [] }),
        ...(toolCalls.length > 0 && { toolCalls }),
        ...(thoughts.length > 0 && { reasoning: thoughts.join('') }),
      },
    ];
  },

  failureOf: ({ kind, code, message }: DomainError): ResponseFailure => ({ code, message, isBusy: kind === 'busy' }),
};

/** The response that a request continues is unknown, or one before it has been deleted or has expired. */
export class PreviousResponseNotFound extends DomainError {
  constructor(id: string) {
    const message = `names a response that is not there, or continues one that is not there any more: ${id.slice(0, 100)}`;
    super('invalid', 'previous_response_not_found', `previous_response_id ${message}.`, {
      details: [{ path: 'previous_response_id', message }],
    });
  }
}
