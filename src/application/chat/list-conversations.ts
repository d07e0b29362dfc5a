import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { ConversationRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** The caller's own conversations in a project. */
@injectable()
export class ListConversations {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly conversations: ConversationRepository,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, page }: Input): Promise<Conversation[]> {
    const { accountId } = authorize(by, permissions.readWorkspace);
    await this.requireProject({ by, projectId });
    return this.conversations.list({ projectId, accountId }, page);
  }

  /** Throws NotFound. */
  async requireProject({ by, projectId }: Pick<Input, 'by' | 'projectId'>): Promise<void> {
    await this.workspace.project(authorize(by, permissions.readWorkspace), projectId);
  }
}
