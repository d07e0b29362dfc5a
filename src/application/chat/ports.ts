import type { ChatMessage, ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { Conversation, ConversationMessage } from '../../domain/chat/conversation.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import type { RuntimeFigures, RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { Project } from '../../domain/workspace/project.js';
import type { Page, SizedItem, VersionPage } from '../shared/ports.js';

/** Tells a runtime who calls and for how long, and hears when it is the call's turn. */
export interface RuntimeCall {
  /** Tells callers apart, who are served in turns. */
  readonly caller: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** Called once, when it is the call's turn. */
  readonly admitted?: () => void;
}

/**
 * Runs the chat models of projects, one runtime per project, outside this process. Ids are those of the projects.
 * Remembers nothing across restarts.
 */
export abstract class ChatRuntime {
  /**
   * Returns what the engine needs to run a model with this spec. Throws InvalidRequest with the first thing that is
   * wrong with the spec.
   */
  abstract source(spec: JsonObject): Promise<RuntimeSource>;

  /** Throws TooManyProcesses if this instance has no room for one more child process that the runtime would need. */
  abstract requireRoom(id: string, source: RuntimeSource): void;

  /**
   * Begins to load the model and returns at once. The state is `loading`, then `ready`, or `unavailable` with a reason
   * that says which part of the model is broken, or why its engine can't be used. Starting what already runs from the
   * same source changes nothing. Starting a runtime that is `unavailable`, or from another source, begins anew.
   * A runtime that dies is started again with a growing delay; until it is back it is `unavailable`, then `loading`.
   * It is `unavailable` as well until this instance has room for its process.
   */
  abstract start(id: string, source: RuntimeSource): void;

  /** Resolves once what ran is gone. Calls in flight fail with RuntimeStopped. Does nothing if nothing runs. */
  abstract stop(id: string): Promise<void>;

  /** Returns the state now; `stopped` for an id that was never started. */
  abstract status(id: string): RuntimeStatus;

  /** Returns, by id, the figures of each runtime that was started and not stopped. They survive a crash. */
  abstract figures(): ReadonlyMap<string, RuntimeFigures>;

  /**
   * Returns the assistant's answer to `request`. At temperature 0 the same request gives the same answer.
   *
   * Callers, told apart by `caller`, are served in turns by what their calls cost in tokens, and each of them in order of
   * arrival, so that a caller with many waiting calls does not hold up others. A full queue does not either: a caller
   * with fewer calls in it gets a place there, for which the newest call of the caller with the most is refused with
   * ModelBusy.
   *
   * Throws RuntimeStopped, RuntimeLoading, RuntimeUnavailable by the state, also when the runtime goes away meanwhile.
   * Throws WrongTask for a model that makes embeddings.
   * Throws ContextLengthExceeded when the prompt leaves no room or an explicit `maxTokens` does not fit; for a model that
   * runs here, before any work and before the call waits. Throws ModelBusy when the queue is full, with a wait that grows
   * with the queue. Throws InferenceTimeout after the configured time, queueing included. Throws RuntimeInvalidResponse
   * when the runtime's answer is not a completion, or ends by itself and breaks a strict format. A model that runs here
   * throws, before any work, UnsupportedParameter for tools and messages that are not text, InvalidRequest for a bias on a
   * token that it does not have and for a schema that it cannot keep to, and ModelBusy if too many schemas are in use.
   *
   * Calls `admitted` once, when it is the call's turn; never for a call that is refused before, or gives up waiting.
   * An engine elsewhere may still refuse the call then.
   * Aborting `signal` gives up the place in the queue, stops the generation and rejects with the signal's reason.
   */
  abstract complete(id: string, request: ChatRequest, call: RuntimeCall): Promise<Completion>;

  /**
   * Yields the answer in parts while it is made; the last part has the end. Promises what `complete` promises. A failure
   * before the first part and one between two parts both reject the next part. A caller that stops taking parts without
   * an end gives up the generation. One that takes them slowly holds up no other call, and costs bounded memory.
   */
  abstract stream(id: string, request: ChatRequest, call: RuntimeCall): AsyncIterable<CompletionPart>;

  /**
   * Returns a vector for each text. A text has the same vector alone and beside others. Promises what `complete` promises
   * about callers, their turns and the signal, and throws what it throws: WrongTask for a model that chats,
   * ContextLengthExceeded when one text does not fit, RuntimeInvalidResponse when the answer is not one vector for each
   * text. Throws UnsupportedParameter for `dimensions` if the model has no choice.
   */
  abstract embed(id: string, request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings>;

  /** Stops every runtime. Later starts do nothing. */
  abstract close(): Promise<void>;
}

/** The runtime of one project. Each method promises what the method of ChatRuntime with its name does. */
export interface EngineRuntime {
  readonly status: RuntimeStatus;
  readonly figures: RuntimeFigures;
  start(source: RuntimeSource): void;
  stop(): Promise<void>;
  complete(request: ChatRequest, call: RuntimeCall): Promise<Completion>;
  stream(request: ChatRequest, call: RuntimeCall): AsyncIterable<CompletionPart>;
  embed(request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings>;
}

/** Runs the models whose spec names this kind in `runtime`. */
export abstract class ChatEngine {
  abstract readonly kind: string;

  /** Returns what it needs to run a model with this spec. Throws InvalidRequest with the first thing that is wrong. */
  abstract source(spec: JsonObject): Promise<RuntimeSource>;

  /** Throws TooManyProcesses if this instance has no room for the child process of one more runtime. */
  abstract requireRoom(): void;

  /** Returns the runtime of a project, stopped. Its sources are those of this engine. */
  abstract create(projectId: string): EngineRuntime;
}

/** Identifies a conversation. A wrong account or project finds nothing. */
export type ConversationKey = Pick<Conversation, 'id' | 'projectId' | 'accountId'>;

/** Stores conversations. They are deleted with their project and with their account. */
export abstract class ConversationRepository {
  /** Adds a conversation with its first messages. Throws NotFound when the project or the account is gone. */
  abstract add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void>;
  /**
   * Appends messages and numbers them on from the last one. Returns false, and writes nothing, when the conversation is
   * gone or would exceed `conversationLimits.messages`. Concurrent calls append one after another, each in one piece.
   */
  abstract append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean>;
  /** Returns null when any part of the key differs. */
  abstract find(key: ConversationKey): Promise<Conversation | null>;
  /** Returns the number of the account's conversations in the project. */
  abstract count(of: Omit<ConversationKey, 'id'>): Promise<number>;
  /** Returns at most `limit` conversations with ids below `after`, newest first. */
  abstract list(of: Omit<ConversationKey, 'id'>, page: Page): Promise<Conversation[]>;
  /** Returns at most `limit` of the account's conversations in the team's projects, latest turn first. */
  abstract recent(accountId: string, teamId: string, limit: number): Promise<Conversation[]>;
  /** Returns the newest `limit` messages with numbers below `before`, oldest first. */
  abstract messages(id: string, page: VersionPage): Promise<ConversationMessage[]>;
  /** Returns the sizes of what `messages` returns, newest first; their ids are the numbers. */
  abstract messageSizes(id: string, page: VersionPage): Promise<SizedItem[]>;
  /** Removes a conversation with its messages. Returns false when there was none. */
  abstract remove(key: ConversationKey): Promise<boolean>;
}

/** Stores which model is a project's runtime, and whether the team wants it to run. */
export interface RuntimeConnection {
  readonly projectId: string;
  readonly modelId: string;
  readonly desired: 'started' | 'stopped';
}

export interface ConnectedProject {
  readonly teamId: string;
  readonly connection: RuntimeConnection | null;
}

/** A project with a connected runtime, which callers chat with as a model. */
export type ChatModel = Pick<Project, 'id' | 'createdAt'>;

export abstract class RuntimeConnectionRepository {
  abstract find(projectId: string): Promise<RuntimeConnection | null>;
  /** Returns the project's team and its connection; null when there is no such project. */
  abstract ofProject(projectId: string): Promise<ConnectedProject | null>;
  /** Returns a team's projects that have a connection, newest first. */
  abstract connectedProjects(teamId: string): Promise<ChatModel[]>;
  /** Returns the connections of these projects, in any order. */
  abstract ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]>;
  /** Inserts the project's only connection, or replaces it. */
  abstract save(connection: RuntimeConnection): Promise<void>;
  /** Changes the desired state, whichever model is connected. Returns false without a connection. */
  abstract setDesired(projectId: string, desired: RuntimeConnection['desired']): Promise<boolean>;
  /** Returns false when there was no connection. */
  abstract remove(projectId: string): Promise<boolean>;
  /** Returns the connections of every team that are desired to run. */
  abstract started(): Promise<RuntimeConnection[]>;
}
