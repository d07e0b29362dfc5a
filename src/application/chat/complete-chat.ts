import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeNotConnected, RuntimeStopped, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { Project } from '../../domain/workspace/project.js';
import type { ProjectModels } from '../workspace/project-models.js';
import type { ChatRuntimes } from './ports/chat-runtimes.js';
import type { RuntimeStates } from './runtime-states.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly request: ChatRequest;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** Answers from the model that is connected to the project. */
export class CompleteChat {
  constructor(
    private readonly found: ProjectModels,
    private readonly states: RuntimeStates,
    private readonly runtimes: ChatRuntimes,
  ) {}

  /** Throws NotFound, RuntimeNotConnected, and what `ChatRuntimes.complete` throws. */
  async execute({ by, projectId, request, signal }: Input): Promise<Completion> {
    const project = await this.requireProject({ by, projectId });
    const { state, reason } = await this.states.of(project.id);
    if (state === 'not_connected') throw new RuntimeNotConnected();
    if (state === 'stopped') throw new RuntimeStopped();
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
    return this.runtimes.complete(project.id, request, signal);
  }

  /** Throws NotFound where the caller could not chat at all, whatever the request says. */
  requireProject({ by, projectId }: Pick<Input, 'by' | 'projectId'>): Promise<Project> {
    return this.found.project(authorize(by, permissions.chat), projectId);
  }
}
