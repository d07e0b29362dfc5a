import type { ChatMessage, ChatRequest, Completion } from '../../domain/chat/chat.js';
import type { Conversation, ConversationMessage } from '../../domain/chat/conversation.js';
import type { RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import type { JsonObject } from '../../domain/workspace/json.js';

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

  /**
   * Begins to load the model and returns at once. The state is `loading`, then `ready`, or `unavailable` with a reason
   * that says which part of the model is broken, or why its engine can't be used. Starting what already runs from the
   * same source changes nothing. Starting a runtime that is `unavailable`, or from another source, begins anew.
   * A runtime that dies is started again with a growing delay; until it is back it is `unavailable`, then `loading`.
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
   * Throws ContextLengthExceeded when the prompt leaves no room or an explicit `maxTokens` does not fit; for a model that
   * runs here, before any work and before the call waits. Throws ModelBusy when the queue is full, with a wait that grows
   * with the queue. Throws InferenceTimeout after the configured time, queueing included. Throws RuntimeInvalidResponse
   * when the runtime's answer is not a completion.
   *
   * Calls `admitted` once, when it is the call's turn; never for a call that is refused before, or gives up waiting.
   * An engine elsewhere may still refuse the call then.
   * Aborting `signal` gives up the place in the queue, stops the generation and rejects with the signal's reason.
   */
  abstract complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion>;

  /** Stops every runtime. */
  abstract close(): Promise<void>;
}

/** Runs the models of one kind. A model's spec names the kind of its engine in `runtime`. */
export abstract class ChatEngine extends ChatRuntime {
  abstract readonly kind: string;
}

/** A conversation is only ever found together with the account that it is of, and the project that it is in. */
export type ConversationKey = Pick<Conversation, 'id' | 'projectId' | 'accountId'>;

/** They go with their project and with their account. */
export abstract class ConversationRepository {
  /** Adds the conversation with its first messages, or nothing. Throws NotFound when project or account are gone. */
  abstract add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void>;
  /**
   * Adds messages to the end of a conversation, numbered on from its last one, and counts them in it; false, and
   * nothing written, where it is gone or would then hold more than `conversationLimits.messages`.
   * Of any number of callers at once each adds its messages in one piece, one caller after the other.
   */
  abstract append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean>;
  /** Null where any part of the key is another. */
  abstract find(key: ConversationKey): Promise<Conversation | null>;
  /** How many the account has in the project. */
  abstract count(of: Omit<ConversationKey, 'id'>): Promise<number>;
  /** At most `limit` of an account's in a project, newest first, from the one before `after` on. */
  abstract list(
    of: Omit<ConversationKey, 'id'>,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<Conversation[]>;
  /** At most `limit` of an account's in the projects of a team, the one with the newest turn first. */
  abstract recent(accountId: string, teamId: string, limit: number): Promise<Conversation[]>;
  /** The newest `limit` messages of those before the number `before`, in the order in which they were said. */
  abstract messages(
    id: string,
    page: { readonly limit: number; readonly before: number | null },
  ): Promise<ConversationMessage[]>;
  /** Removes the conversation with its messages; true when there was one. */
  abstract remove(key: ConversationKey): Promise<boolean>;
}

/** The folders that models are served from. */
export abstract class ModelFolders {
  /**
   * The resolved absolute path of a folder, given relative to a models folder or absolute within one, symbolic links
   * followed first. Null when there is none, when it is not a folder, or when it lies outside the models folders.
   */
  abstract locate(path: string): Promise<string | null>;
}

/** Which model is a project's runtime, whether the team wants it to run, and where it does. */
export interface RuntimeConnection {
  readonly projectId: string;
  readonly modelId: string;
  readonly wanted: 'started' | 'stopped';
  /** The number of the process of the service whose it is; null: nobody's just now. */
  readonly process: number | null;
}

export interface ConnectedProject {
  readonly teamId: string;
  readonly connection: RuntimeConnection | null;
}

export abstract class RuntimeConnectionRepository {
  abstract find(projectId: string): Promise<RuntimeConnection | null>;
  /** Whose a project is, and its connection, where it has one; null where there is no such project. */
  abstract ofProject(projectId: string): Promise<ConnectedProject | null>;
  /** Those of the projects named, in any order. */
  abstract ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]>;
  /** Inserts the project's only connection, nobody's at first, or replaces it and leaves it whose it is. */
  abstract save(connection: Omit<RuntimeConnection, 'process'>): Promise<void>;
  /** Changes what is wanted of a connection, whichever model it has by now; false when there is none. */
  abstract want(projectId: string, wanted: RuntimeConnection['wanted']): Promise<boolean>;
  /**
   * Makes it `to`'s where it is `from`'s, and gives it back as it is at that moment; of any number who try at once, one
   * does. Null where it is not, or is gone.
   */
  abstract claim(projectId: string, from: number | null, to: number | null): Promise<RuntimeConnection | null>;
  /** What is a process's is nobody's from now on. */
  abstract release(process: number): Promise<void>;
  /** False when there is none. */
  abstract remove(projectId: string): Promise<boolean>;
  /** All connections that are wanted `started`, of every team. */
  abstract started(): Promise<RuntimeConnection[]>;
}
