import { DomainError, InvalidRequest, refusal } from '../shared/errors.js';
import type { Completion } from './chat.js';
import type { RuntimeTask } from './runtime.js';

export class RuntimeNotConnected extends DomainError {
  /** The kind is `conflict` if the caller wanted to start or stop the runtime. */
  constructor(kind: 'unavailable' | 'conflict' = 'unavailable') {
    const message = 'No model is connected to this project: connect one with PUT /v1/projects/{project_id}/runtime.';
    super(kind, 'runtime_not_connected', message, { retryable: false });
  }
}

export class RuntimeStopped extends refusal(
  'unavailable',
  'runtime_stopped',
  'The runtime is stopped: start it with POST /v1/projects/{project_id}/runtime/start.',
  { retryable: false },
) {}

export class RuntimeLoading extends DomainError {
  constructor(retryAfterSeconds = 1) {
    super('unavailable', 'runtime_loading', 'The model is loading: try again shortly.', { retryAfterSeconds });
  }
}

export class RuntimeUnavailable extends DomainError {
  constructor(reason: string, retryAfterSeconds?: number) {
    const advice = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    super('unavailable', 'runtime_unavailable', `The runtime is unavailable: ${reason}`, advice);
  }
}

export class RuntimeInvalidResponse extends DomainError {
  constructor(reason: string) {
    const message = `The runtime gave no valid answer: ${reason}`;
    super('bad_gateway', 'runtime_invalid_response', message, { retryable: false });
  }
}

/** An engine elsewhere refuses the request as wrong, and its words are not for the caller. */
export class RefusedWithoutWords extends RuntimeInvalidResponse {
  constructor(status: number) {
    super(`its engine answered with status ${status}.`);
  }
}

/** The answer is complete, but it does not have the format that the request demands with `strict`. */
export class AnswerOutOfFormat extends RuntimeInvalidResponse {
  constructor(readonly completion: Completion) {
    super('it does not validate against the schema of response_format.');
  }
}

export class ModelBusy extends DomainError {
  constructor(retryAfterSeconds: number) {
    const message = `The model is busy: try again in ${retryAfterSeconds} s.`;
    super('busy', 'model_busy', message, { retryAfterSeconds });
  }
}

export class InferenceTimeout extends DomainError {
  /** `seconds` is absent if an engine elsewhere reports the timeout. */
  constructor(seconds?: number) {
    const time = seconds === undefined ? 'in time' : `within ${seconds} s`;
    super('timeout', 'inference_timeout', `The model did not finish ${time}.`, { retryable: false });
  }
}

/** The caller reads the stream too slowly, and the buffer for the unread answer is full. */
export class StreamNotRead extends refusal('timeout', 'inference_timeout', 'The stream was not read fast enough.', {
  retryable: false,
}) {}

/** A reader has followed a response in the background for the longest time. The response goes on. */
export class FollowedTooLong extends refusal(
  'timeout',
  'inference_timeout',
  'The stream has reached its time limit, but the response goes on: follow it again from the last event.',
) {}

/** The call needs a chat model, but an embedding model is connected, or the other way round. */
export class WrongTask extends InvalidRequest {
  constructor(task: RuntimeTask) {
    const does = { chat: 'chats and makes no embeddings', embedding: 'makes embeddings and does not chat' };
    super([{ path: 'model', message: `names a project whose model ${does[task]}` }]);
  }
}

/** The prompt, the prompt with an explicit `max_tokens`, or a text to embed is longer than the model's context. */
export class ContextLengthExceeded extends DomainError {
  constructor(message: string, path?: string) {
    super('invalid', 'context_length_exceeded', message, path === undefined ? {} : { details: [{ path, message }] });
  }

  /** Refuses a text to embed. If `whole` is false, only the first `tokens` of its tokens were counted. */
  static ofText({ index, context, tokens, whole }: { index: number; context: number; tokens: number; whole: boolean }) {
    const has = whole ? tokens : `${tokens} or more`;
    const message = `input has a text of ${has} tokens at index ${index}; the model's context is ${context} tokens.`;
    return new ContextLengthExceeded(message, 'input');
  }

  /** Refuses a prompt. If `whole` is false, only the first `promptTokens` of its tokens were counted. */
  static of(counts: { context: number; promptTokens: number; whole?: boolean; maxTokens: number | null }) {
    const { context, promptTokens, whole = true, maxTokens } = counts;
    const has = whole ? promptTokens : `${promptTokens} or more`;
    const requested = maxTokens === null ? '' : ` and max_tokens asks for ${maxTokens} more`;
    const remedy = maxTokens === null ? 'Shorten the prompt.' : 'Shorten the messages or lower max_tokens.';
    return new ContextLengthExceeded(
      `The model's context is ${context} tokens; the prompt has ${has}${requested}. ${remedy}`,
    );
  }
}

export class StreamingUnsupported extends refusal(
  'invalid',
  'streaming_unsupported',
  'Streaming is not supported: leave stream out or send false.',
) {}

/** The caller names a thread of messages that the service should have kept. */
export class ThreadUnsupported extends DomainError {
  constructor() {
    const message = 'is not supported: send all messages with each request';
    super('invalid', 'thread_unsupported_request', `thread ${message}.`, { details: [{ path: 'thread', message }] });
  }
}

/** The connected model does not support a parameter of the request. */
export class UnsupportedParameter extends DomainError {
  constructor(parameter: string, message: string) {
    super('invalid', 'unsupported_parameter', `${parameter} ${message}`, { details: [{ path: parameter, message }] });
  }
}

/** An engine elsewhere refuses the request. The message is the engine's own. */
export class RefusedByEngine extends DomainError {
  constructor({ message, param }: { readonly message: string; readonly param: string | null }) {
    super('invalid', 'invalid_request', message, param === null ? {} : { details: [{ path: param, message }] });
  }
}

/** The team has no project with this id or name, or has several projects with this name. */
export class UnknownModel extends DomainError {
  constructor() {
    const message =
      'must be the id of a project of your team, or a name that only one of these projects has: ' +
      'GET /openai/v1/models lists the projects with a model';
    super('not_found', 'not_found', `model ${message}.`, { details: [{ path: 'model', message }] });
  }
}

/** The project has no model with the id that a field of its targets names. */
export class UnknownTarget extends DomainError {
  constructor(path: string) {
    const message = 'must be a model of this project';
    super('not_found', 'not_found', `${path} ${message}.`, { details: [{ path, message }] });
  }
}

/** The request has a field that the endpoint does not know. */
export class UnknownParameter extends DomainError {
  constructor(path: string) {
    const message = 'is not a field of this request';
    super('invalid', 'unknown_parameter', `${path} ${message}.`, { details: [{ path, message }] });
  }
}

export class ModelMismatch extends DomainError {
  constructor(projectId: string) {
    super('invalid', 'model_mismatch', `model must be the id of the project in the path, ${projectId}.`);
  }
}

/** The header that names the conversation of a call. Findings have it as their path. */
const CONVERSATION_HEADER = 'X-Conversation-Id';

export class ConversationFull extends InvalidRequest {
  constructor(limit: number) {
    const message =
      `leaves no room for the turn: a conversation holds at most ${limit} messages. Send "new" with fewer messages, ` +
      'or leave the header out';
    super([{ path: CONVERSATION_HEADER, message }]);
  }
}

/** The messages that a conversation would store are too long. The call itself may be longer. */
export class TurnTooLong extends InvalidRequest {
  constructor({ length, most }: { readonly length: number; readonly most: number }) {
    const message =
      `asks to store messages of ${length} characters, and at most ${most} can be stored at once: ` +
      'leave the header out to send them without storing them';
    super([{ path: CONVERSATION_HEADER, message }]);
  }
}

export class TooManyConversations extends InvalidRequest {
  constructor(limit: number) {
    const message =
      `cannot be "new": you have reached the limit of ${limit} conversations in this project; make room with ` +
      'DELETE /v1/projects/{project_id}/conversations/{conversation_id}';
    super([{ path: CONVERSATION_HEADER, message }]);
  }
}
