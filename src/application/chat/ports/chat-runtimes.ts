import type { ChatRequest, Completion } from '../../../domain/chat/chat.js';
import type { RuntimeSource, RuntimeStatus } from '../../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../../domain/chat/runtime-figures.js';
import { port } from '../../shared/port.js';

/**
 * Runs the language models of projects, one runtime per project, outside this process.
 * Nothing here is remembered across restarts; ids are the projects'.
 */
export interface ChatRuntimes {
  /**
   * Begins to load the model and returns at once; the state is `loading`, then `ready`, or `unavailable` with a reason
   * that says which part of the model is broken, or why its engine can't be used. Starting what already runs from the
   * same source changes nothing; starting a runtime that is `unavailable`, or from another source, begins anew.
   * A runtime that dies is started again with a growing delay; until it is back it is `unavailable`, then `loading`.
   */
  start(id: string, source: RuntimeSource): void;

  /** Resolves once what ran is gone. Calls in flight fail with RuntimeStopped. Stopping what does not run is done. */
  stop(id: string): Promise<void>;

  /** The state now; `stopped` for an id that was never started. */
  status(id: string): RuntimeStatus;

  /** By id, of each runtime that was started and not stopped. A runtime that dies and comes back counts on. */
  figures(): ReadonlyMap<string, RuntimeFigures>;

  /**
   * The assistant's answer to `request`. At temperature 0 the same request gives the same answer.
   *
   * Callers, told apart by `caller`, are served in turns by what their calls cost in tokens, and each of them in order of
   * arrival, so that whoever has many calls waiting does not hold up others. Nor does a full queue: a caller with fewer
   * calls in it gets a place there, for which the newest of the caller with the most is refused with ModelBusy.
   *
   * Throws RuntimeStopped, RuntimeLoading, RuntimeUnavailable by the state, also when the runtime goes away meanwhile;
   * ContextLengthExceeded when the prompt leaves no room or an explicit `maxTokens` does not fit (of a model that runs
   * here before any work, and before the call waits);
   * ModelBusy when the runtime's queue is full, with a wait that grows with it; InferenceTimeout after the configured
   * time, queueing included; RuntimeInvalidResponse when the runtime answers with something else than a completion.
   * `admitted` is called once, when it is the call's turn; never for a call that is refused before, or gives up waiting.
   * An engine elsewhere may still refuse the call then.
   * Aborting `signal` gives up the place in the queue, stops the generation and rejects with the signal's reason.
   */
  complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion>;

  /** Stops every runtime. */
  close(): Promise<void>;
}
export const ChatRuntimes = port<ChatRuntimes>('chat.ChatRuntimes');
