import type { ResponsePart } from '../../domain/chat/answer-assembly.js';
import type { ChatMessage, ChatRequest, Completion, CompletionPart, Usage } from '../../domain/chat/chat.js';
import type { Conversation, ConversationMessage } from '../../domain/chat/conversation.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import type { Response, ResponseEnd } from '../../domain/chat/response.js';
import type { RuntimeFigures, RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { Targets } from '../../domain/chat/target.js';
import type { Json, JsonObject } from '../../domain/workspace/json.js';
import type { Project } from '../../domain/workspace/project.js';
import type { Reservation } from '../shared/memory-budget.js';
import type { Page, SizedItem, VersionPage } from '../shared/ports.js';

/** The data of a call that are not part of its request. */
export interface RuntimeCall {
  /** Identifies the caller. The fair queue serves callers in turns. */
  readonly caller: string;
  /** Aborts when the caller disconnects or loses the permission. */
  readonly signal: AbortSignal;
  /** The memory for what the call reads from an engine elsewhere. */
  readonly memory: Reservation;
  /** A callback for the moment when the call leaves the fair queue. It is called once. */
  readonly admitted?: () => void;
  /**
   * A callback for the moment when a chat worker ends the generation of one answer, because it is complete or cancelled.
   * The promise resolves, and never rejects, to the tokens that were made until then, or to null if the worker is gone.
   * If there are several answers to a prompt, only the first has the tokens of the prompt. Engines elsewhere never call it.
   */
  readonly made?: (usage: Promise<Usage | null>) => void;
}

/** The data of a count of tokens that are not part of its request. */
export type CountCall = Pick<RuntimeCall, 'caller' | 'signal'>;

/**
 * Runs the models of projects outside this process. Each target of a project has one runtime, with the id that
 * `RuntimeId.of` makes. Remembers nothing after a restart of the service.
 */
export abstract class ChatRuntimes {
  /**
   * Checks the fields of a spec that names an engine, without its files and the settings of the service. Accepts every
   * other spec. Throws InvalidRequest with the first problem.
   */
  abstract requireFields(spec: JsonObject): void;

  /** Returns the data that the engine needs to run a model. Throws InvalidRequest with the first problem of the spec. */
  abstract source(spec: JsonObject): Promise<RuntimeSource>;

  /** Throws TooManyProcesses if the runtime needs one more child process than this instance may run. */
  abstract requireRoom(id: string, source: RuntimeSource): void;

  /**
   * Begins to load the model and returns at once. The state is `loading`, then `ready` or `unavailable`. The reason of
   * `unavailable` says which part of the model is broken, or why its engine cannot be used.
   *
   * Does nothing if the runtime already runs from the same source. Starts again if the runtime is `unavailable` or the
   * source is different. A runtime that dies is started again after a growing delay. The state is `unavailable` during
   * the delay, and then `loading`. The state is also `unavailable` while this instance has no room for the process.
   */
  abstract start(id: string, source: RuntimeSource): void;

  /** Stops the runtime. Resolves when its process has ended. Calls in flight fail with RuntimeStopped. */
  abstract stop(id: string): Promise<void>;

  /** Returns the present state, or `stopped` for an id that was never started. */
  abstract status(id: string): RuntimeStatus;

  /** Returns the figures of all started runtimes by id. A crash of a runtime does not reset its figures. */
  abstract figures(): ReadonlyMap<string, RuntimeFigures>;

  /**
   * Returns the assistant's answer to `request`. At temperature 0 the same request gives the same answer. Honours every
   * field of the request, or throws UnsupportedParameter or InvalidRequest, which names the field.
   *
   * The fair queue serves callers in turns, by the cost of their calls in tokens. The calls of one caller are served in
   * the order of their arrival. So a caller with many waiting calls does not delay other callers. If the queue is full,
   * a caller with fewer waiting calls still gets a place: the newest call of the caller with the most waiting calls is
   * refused with ModelBusy.
   *
   * - Throws RuntimeStopped, RuntimeLoading or RuntimeUnavailable by the state, also if the state changes during the
   *   call.
   * - Throws WrongTask for a model that makes embeddings.
   * - Throws ContextLengthExceeded if the prompt leaves no room for an answer, or an explicit `maxTokens` does not fit.
   *   A chat worker throws this before the call waits.
   * - Throws ModelBusy if the queue is full. The advised wait grows with the queue.
   * - Throws InferenceTimeout after the configured time, which includes the time in the queue.
   * - Throws RuntimeInvalidResponse if the runtime's answer is not a completion. Throws AnswerOutOfFormat if the answer
   *   is complete but does not have the format of the request. An engine elsewhere is held only to a `strict` format.
   * - A chat worker throws UnsupportedParameter for tools and for messages that are not text. It throws InvalidRequest
   *   for a bias on a token that it does not have, and for a schema that it cannot follow. It throws ModelBusy if too
   *   many schemas are in use. It throws these before any work.
   *
   * Calls `admitted` once, when the call leaves the queue. Never calls it for a call that is refused or aborted
   * earlier. An engine elsewhere can still refuse the call after `admitted`. Aborting `signal` removes the call from
   * the queue, stops the generation and rejects with the signal's reason.
   */
  abstract complete(id: string, request: ChatRequest, call: RuntimeCall): Promise<Completion>;

  /**
   * Yields the answer in parts during its generation. The last part has the end. Promises the same as `complete`. An
   * error of `complete` rejects the next part. The generation stops if the consumer stops before the last part. A slow
   * consumer does not delay other calls and needs bounded memory.
   */
  abstract stream(id: string, request: ChatRequest, call: RuntimeCall): AsyncIterable<CompletionPart>;

  /**
   * Returns a vector for each text. A text has the same vector alone and together with other texts. Promises the same
   * as `complete` about the fair queue and the signal, and throws the same errors. Throws WrongTask for a chat model,
   * ContextLengthExceeded if a text does not fit, and RuntimeInvalidResponse if the answer is not one vector for each
   * text. Throws UnsupportedParameter for `dimensions` if the model cannot choose them.
   */
  abstract embed(id: string, request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings>;

  /**
   * Returns the number of tokens of the request's prompt. Generates nothing and waits in no queue. A chat worker counts
   * with the tokenizer and the chat template of its model, also if the prompt does not fit the context. An engine
   * elsewhere is not asked: the number is an estimate from the length of the texts. Throws by the state and for fields
   * of the request as `complete` does. Throws ContextLengthExceeded for a prompt that is too long to be counted.
   */
  abstract countTokens(id: string, request: ChatRequest, call: CountCall): Promise<number>;

  /**
   * Returns at least the number of tokens of the request's prompt. A worker counts them. An engine elsewhere is not asked: a
   * token has at least one byte, and a message, text or tool adds at most `MOST_ADDED`. Promises the rest as `countTokens`.
   */
  abstract boundTokens(id: string, request: ChatRequest, call: CountCall): Promise<number>;
  /** Promises the same for texts. Throws by the state as `embed` does, and in a worker for the texts, too. */
  abstract boundTextTokens(id: string, request: EmbeddingRequest, call: CountCall): Promise<number>;

  /** Stops every runtime. Later starts do nothing. */
  abstract close(): Promise<void>;
}

/** The runtime of one target. Each method promises the same as the method of ChatRuntimes with the same name. */
export interface ChatRuntime {
  readonly status: RuntimeStatus;
  readonly figures: RuntimeFigures;
  start(source: RuntimeSource): void;
  stop(): Promise<void>;
  complete(request: ChatRequest, call: RuntimeCall): Promise<Completion>;
  stream(request: ChatRequest, call: RuntimeCall): AsyncIterable<CompletionPart>;
  embed(request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings>;
  countTokens(request: ChatRequest, call: CountCall): Promise<number>;
  boundTokens(request: ChatRequest, call: CountCall): Promise<number>;
  boundTextTokens(request: EmbeddingRequest, call: CountCall): Promise<number>;
}

/** Runs the models that have this `kind` in the field `runtime` of their spec. */
export abstract class ChatEngine {
  abstract readonly kind: string;

  /** Checks what makes the spec useless on every instance, now and later. Throws InvalidRequest with the first problem. */
  abstract requireFields(spec: JsonObject): void;

  /** Returns the data that it needs to run a model with this spec. Throws InvalidRequest with the first problem. */
  abstract source(spec: JsonObject): Promise<RuntimeSource>;

  /** Throws TooManyProcesses if this instance has no room for the child process of one more runtime. */
  abstract requireRoom(): void;

  /** Creates a runtime. It is stopped at first, and starts only from sources of this engine. */
  abstract create(id: string): ChatRuntime;
}

/** Identifies a conversation. A wrong account or project finds nothing. */
export type ConversationKey = Pick<Conversation, 'id' | 'projectId' | 'accountId'>;

export interface StoredConversations {
  /** The number of the account's conversations in the project. */
  readonly inProject: number;
  /** The bytes of all messages of the account, in all projects. */
  readonly bytes: number;
}

/** Stores conversations. A conversation is deleted when its project or its account is deleted. */
export abstract class ConversationRepository {
  /** Adds a conversation with its first messages. Throws NotFound when the project or the account is gone. */
  abstract add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void>;
  /**
   * Appends messages with the next numbers. Returns false and writes nothing if the conversation is gone or would
   * exceed `conversationLimits.messages`. Concurrent calls append one after another, so their messages do not mix.
   */
  abstract append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean>;
  /** Returns null when any part of the key differs. */
  abstract find(key: ConversationKey): Promise<Conversation | null>;
  /** Returns, with one statement, how much the account has stored. */
  abstract stored(of: Omit<ConversationKey, 'id'>): Promise<StoredConversations>;
  /** Returns at most `limit` conversations with ids below `after`, newest first. */
  abstract list(of: Omit<ConversationKey, 'id'>, page: Page): Promise<Conversation[]>;
  /** Returns at most `limit` of the account's conversations in the team's `projects`, latest turn first. */
  abstract recent(accountId: string, teamId: string, limit: number, projects?: Projects): Promise<Conversation[]>;
  /** Returns the newest `limit` messages with numbers below `before`, oldest first. */
  abstract messages(id: string, page: VersionPage): Promise<ConversationMessage[]>;
  /** Returns the sizes of the messages that `messages` returns, newest first. The ids are the messages' numbers. */
  abstract messageSizes(id: string, page: VersionPage): Promise<SizedItem[]>;
  /** Removes a conversation with its messages. Returns false when there was none. */
  abstract remove(key: ConversationKey): Promise<boolean>;
}

/** Selects objects in these projects. Null: in any project. */
export type Projects = readonly string[] | null;

/** Identifies a response. A wrong account finds nothing. */
export type ResponseKey = Pick<Response, 'id' | 'accountId'> & { readonly projects?: Projects };

/** A response without its content. */
export interface ResponseHead extends Pick<Response, 'id' | 'previousId' | 'status' | 'background'> {
  /** True if a run has begun. */
  readonly hasBegun: boolean;
  /** The parts that are stored. */
  readonly bytes: number;
}

/** The work that a response in the background leaves to the work queue. */
export interface ResponseTask extends Pick<Response, 'accountId' | 'projectId'> {
  readonly request: ChatRequest;
  /** The API key of the call. Null for a session. */
  readonly keyId: string | null;
}

export interface PartBatch {
  /** Counts from 1 without a gap. */
  readonly number: number;
  readonly parts: readonly ResponsePart[];
}

/** Stores responses. A response is deleted when its project or its account is deleted. */
export abstract class ResponseRepository {
  /** Adds a response that is open only if it has a task. Throws NotFound when the project or the account is gone. */
  abstract add(response: Response, task: ResponseTask | null): Promise<void>;
  abstract head(key: ResponseKey): Promise<ResponseHead | null>;
  abstract find(key: ResponseKey): Promise<Response | null>;
  /** Returns the sizes of those of the account's responses with these ids, in any order. With `projects`, only of these. */
  abstract sizes(accountId: string, ids: readonly string[], projects?: Projects): Promise<number[]>;
  /** Returns the account's responses with these ids, in any order. With `projects`, only of these. */
  abstract ofIds(accountId: string, ids: readonly string[], projects?: Projects): Promise<Response[]>;
  /** Returns the heads of the response and of those that it continues, oldest first, at most `limit` of them. */
  abstract lineage(key: ResponseKey, limit: number): Promise<ResponseHead[]>;
  /** Removes a response with everything that is stored of it. Returns false when there was none. */
  abstract remove(key: ResponseKey): Promise<boolean>;
  /** Ends an open response. Returns false if it was not open. */
  abstract cancel(key: ResponseKey, at: Date): Promise<boolean>;
  abstract replaceOutput(key: ResponseKey, output: Response['output']): Promise<void>;
  /** Begins a run of an open response, which becomes `in_progress`. Returns the number of the run, else null. */
  abstract begin(id: string): Promise<number | null>;
  /** Returns the size of an open response's task. Null: it is not open. */
  abstract taskBytes(id: string): Promise<number | null>;
  abstract task(id: string): Promise<(ResponseTask & Pick<Response, 'createdAt'>) | null>;
  /** Stores parts as the next batch. Returns false and stores nothing if a later run has begun, or the response is not open. */
  abstract append(id: string, run: number, parts: readonly ResponsePart[]): Promise<boolean>;
  /** Returns at most `limit` batches with numbers above `after`, in order. */
  abstract batches(id: string, after: number, limit: number): Promise<PartBatch[]>;
  /** Ends an open response and removes its task. Returns false if a later run has begun, or the response is not open. */
  abstract finish(id: string, run: number, end: ResponseEnd, at: Date): Promise<boolean>;
}

/** The connected models of a project, and whether the team wants them to run. */
export interface RuntimeConnection extends Targets {
  readonly projectId: string;
  readonly desired: 'started' | 'stopped';
}

export interface ConnectedProject {
  readonly projectId: string;
  /** True if there is a budget of the project or of the given scopes. */
  readonly hasBudgets: boolean;
  /** The field `record` of the project's spec. Null: absent. */
  readonly record: Json;
  readonly connection: RuntimeConnection | null;
}

/** A project with a connected model. OpenAI's API presents the project as a model. */
export interface ChatModel extends Pick<Project, 'id' | 'createdAt'> {
  /** The name of the project, or its id if another project of the team has this name or id. `ofModel` finds both. */
  readonly name: string;
}

export abstract class RuntimeConnectionRepository {
  abstract find(projectId: string): Promise<RuntimeConnection | null>;
  /** Returns the team's project with this id and its connection, or null. `scopes` are further scopes of budgets. */
  abstract ofProject(teamId: string, projectId: string, scopes?: readonly string[]): Promise<ConnectedProject | null>;
  /**
   * Returns the team's project with the id `model`, or else the team's only project with this name. Returns null if
   * there is none, or if several projects have the name.
   */
  abstract ofModel(teamId: string, model: string, scopes?: readonly string[]): Promise<ConnectedProject | null>;
  /** Returns a team's projects that have a connection, newest first. */
  abstract connectedProjects(teamId: string): Promise<ChatModel[]>;
  /** Returns the connections of these projects, in any order. */
  abstract ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]>;
  /** Inserts the project's only connection, or replaces it. */
  abstract save(connection: RuntimeConnection): Promise<void>;
  /** Changes the desired state and keeps the connected models. Returns false without a connection. */
  abstract setDesired(projectId: string, desired: RuntimeConnection['desired']): Promise<boolean>;
  /** Returns false when there was no connection. */
  abstract remove(projectId: string): Promise<boolean>;
  /** Returns the connections of all teams with the desired state `started`. */
  abstract started(): Promise<RuntimeConnection[]>;
}
