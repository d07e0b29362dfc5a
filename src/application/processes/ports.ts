import type { ChatRequest, TimedCompletion } from '../../domain/chat/chat.js';
import type { RuntimeStatus } from '../../domain/chat/runtime.js';
import type { ServerState } from '../deployments/ports.js';

/** What a process says of what it runs, by the ids of deployments and projects. */
export interface ModelStates {
  readonly deployments: Readonly<Record<string, ServerState>>;
  readonly runtimes: Readonly<Record<string, RuntimeStatus>>;
}

/** A chat with the runtime of a project, in the name of an account. */
export interface RuntimeCall {
  readonly projectId: string;
  readonly request: ChatRequest;
  readonly caller: string;
}

/** The other processes of the service, asked over a private way. */
export abstract class OtherProcesses {
  /**
   * What a process finds out at this moment of those of the deployments and projects that are named, however many.
   * Null where it does not say so within a few seconds, is unknown, or does not take this process for one of its own.
   */
  abstract states(process: number, ids: readonly string[]): Promise<ModelStates | null>;
  /**
   * Has a process make of a deployment or of a project's runtime what the database says; resolves once it has, or to
   * false where it could not be asked: it will do so by itself, a little later.
   */
  abstract settle(process: number, id: string): Promise<boolean>;
  /**
   * Has a runtime of a process answer, as `ChatRuntimes.complete` there would, which aborting `signal` ends as well.
   * Throws refusals of the same code as that throws. Null where the process could not be asked.
   */
  abstract complete(process: number, call: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion | null>;
}
