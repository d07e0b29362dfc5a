import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import type { KeptIn } from '../../domain/chat/conversation.js';
import { RuntimeLoading, RuntimeNotConnected, RuntimeStopped, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { CallTracker } from '../jobs/call-tracker.js';
import { Ownership } from '../processes/ownership.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { KeepTurn } from './keep-turn.js';
import { OwnConversations } from './own-conversations.js';
import { ChatRuntime } from './ports.js';
import { RuntimeStates } from './runtime-states.js';

interface Place {
  readonly by: Caller | null;
  readonly projectId: string;
  /** Null: nothing of the chat is kept. */
  readonly keptIn: KeptIn | null;
}

interface Input extends Place {
  readonly request: ChatRequest;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** Answers from the model that is connected to the project. */
@injectable()
export class CompleteChat {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly own: OwnConversations,
    private readonly keepTurn: KeepTurn,
    private readonly states: RuntimeStates,
    private readonly runtimes: ChatRuntime,
    private readonly calls: CallTracker,
    private readonly ownership: Ownership,
  ) {}

  /**
   * With the id of the conversation that keeps the turn, if one does. Only an answer that was made is kept, and an
   * answer that was to be kept and could not be is none.
   *
   * Throws NotFound, RuntimeNotConnected, RunsElsewhere before anything is done, and what `KeepTurn` and `ChatRuntimes.complete` throw.
   */
  async execute(input: Input): Promise<{ completion: Completion; conversationId: string | null }> {
    const { projectId, keptIn, request, signal } = input;
    const caller = authorize(input.by, permissions.chat);
    const runtime = await this.states.ofTeam(caller.teamId, projectId);
    const place = keptIn && { caller, projectId, keptIn };
    if (place) await this.keepTurn.requireRoom(place);
    if (typeof runtime === 'number') throw await this.ownership.elsewhere(runtime);
    requireReady(runtime);
    const about = { by: caller, kind: 'chat', name: null, projectId, modelId: runtime.modelId, signal } as const;
    const completion = await this.calls.track(about, (admitted) =>
      this.runtimes.complete(projectId, request, caller.accountId, signal, admitted),
    );
    if (!place) return { completion, conversationId: null };
    signal.throwIfAborted();
    return { completion, conversationId: await this.keepTurn.execute(place, request, completion.text) };
  }

  /** Throws NotFound where the caller could not chat at all, whatever the request says. */
  async requirePlace({ by, projectId, keptIn }: Place): Promise<void> {
    const caller = authorize(by, permissions.chat);
    if (keptIn === null || keptIn === 'new') await this.workspace.project(caller, projectId);
    else await this.own.conversation(caller, projectId, keptIn);
  }
}

function requireReady({ state, reason }: ProjectRuntime): void {
  if (state === 'not_connected') throw new RuntimeNotConnected();
  if (state === 'stopped') throw new RuntimeStopped();
  if (state === 'loading') throw new RuntimeLoading();
  if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
}
