import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ChatRequest, Completion, TimedCompletion, Usage } from '../../domain/chat/chat.js';
import type { KeptIn } from '../../domain/chat/conversation.js';
import { RuntimeLoading, RuntimeNotConnected, RuntimeStopped, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import type { CallUsage } from '../../domain/jobs/job.js';
import { CallTracker } from '../jobs/call-tracker.js';
import { Clock } from '../shared/ports.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { ConversationService } from './conversation.service.js';
import { ChatRuntime } from './ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

interface Place {
  readonly by: Caller | null;
  readonly projectId: string;
  /** Stores nothing of the chat when null. */
  readonly keptIn: KeptIn | null;
}

interface Input extends Place {
  readonly request: ChatRequest;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
}

/** A chat that the service itself has with a runtime, in the name of an account. */
export interface OwnCall {
  readonly projectId: string;
  readonly request: ChatRequest;
  readonly accountId: string;
}

@injectable()
export class ChatService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly conversations: ConversationService,
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: ChatRuntime,
    private readonly calls: CallTracker,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the answer of the project's model, and the id of the conversation that stores the turn, or null. Reads the
   * desired state of the runtime first, so that no instance answers after a stop. Throws NotFound, the runtime's state
   * as an error, and what `ConversationService.storeTurn` and `ChatRuntime.complete` throw.
   */
  async complete(input: Input): Promise<{ completion: Completion; conversationId: string | null }> {
    const { projectId, keptIn, request, signal } = input;
    const caller = authorize(input.by, permissions.chat);
    const runtime = await this.reconciler.stateForTeam(caller.teamId, projectId);
    const place = keptIn && { caller, projectId, keptIn };
    if (place) await this.conversations.requireRoom(place);
    requireReady(runtime);
    const about = { by: caller, kind: 'chat', name: null, projectId, modelId: runtime.modelId, signal } as const;
    const completion = await this.calls.track(
      about,
      (admitted) => this.runtimes.complete(projectId, request, caller.accountId, signal, admitted),
      ({ usage }) => usageOf(usage),
    );
    if (!place) return { completion, conversationId: null };
    signal.throwIfAborted();
    return { completion, conversationId: await this.conversations.storeTurn(place, request, completion.text) };
  }

  /** Throws NotFound when the project or the conversation does not exist for the caller. */
  async requirePlace({ by, projectId, keptIn }: Place): Promise<void> {
    const caller = authorize(by, permissions.chat);
    if (keptIn === null || keptIn === 'new') await this.workspace.project(caller, projectId);
    else await this.conversations.requireConversation({ by, projectId, id: keptIn });
  }

  /** Returns an answer with its latency in seconds, queueing left out. Tracks no job. Throws what `complete` throws. */
  async completeOwn({ projectId, request, accountId }: OwnCall, signal: AbortSignal): Promise<TimedCompletion> {
    let begun = this.clock.now();
    const completion = await this.runtimes.complete(projectId, request, accountId, signal, () => {
      begun = this.clock.now();
    });
    return { completion, latency: Math.max(0, this.clock.now().getTime() - begun.getTime()) / 1000 };
  }
}

/** `firstToken` is absent for an answer that came whole. */
const usageOf = (usage: Usage | null, firstToken: number | null = null): CallUsage => ({
  tokensIn: usage?.promptTokens ?? null,
  tokensOut: usage?.completionTokens ?? null,
  firstToken,
});

/** Throws the error of a runtime that is not ready. */
function requireReady({ state, reason }: ProjectRuntime): void {
  if (state === 'not_connected') throw new RuntimeNotConnected();
  if (state === 'stopped') throw new RuntimeStopped();
  if (state === 'loading') throw new RuntimeLoading();
  if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
}
