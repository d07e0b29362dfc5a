import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { chatRoles } from '../../../domain/chat/chat.js';
import { contractsOf } from '../contract.js';
import { NextCursor, NumberPage, Page, pageOfList } from '../paging.js';
import { Deleted, id, intLike, namedObject, Timestamp, textLike } from '../schemas.js';

const api = contractsOf('Inference');
const path = '/v1/projects/{project_id}/conversations';

export const ConversationAnswer = namedObject('Conversation', {
  id: id('cnv'),
  project_id: id('prj'),
  title: textLike('What is the capital', 'The beginning of the first question.'),
  message_count: intLike(2),
  created_at: Timestamp,
  updated_at: Timestamp.describe('The time of the newest message. Seconds since the epoch.'),
});

export const listConversations = api.get(path, {
  id: 'listConversations',
  summary: 'List your own conversations in a project, newest first',
  description: 'Chat completions with the header `X-Conversation-Id` create them. Nobody else can read them.',
  access: permissions.readWorkspace,
  query: Page,
  answer: pageOfList('conversations', ConversationAnswer, 'Conversations'),
});

export const readConversation = api.get(`${path}/{conversation_id}`, {
  id: 'readConversation',
  summary: 'Read one of your own conversations',
  description: 'Answers the newest messages, oldest first. `next_cursor` leads to the messages before them.',
  access: permissions.readWorkspace,
  query: NumberPage,
  answer: ConversationAnswer.extend({
    messages: z.array(
      z.object({ role: z.enum([...chatRoles, 'tool']), content: z.string(), created_at: Timestamp }).meta({
        id: 'ConversationMessage',
        example: { role: 'user', content: 'What is the capital of France?', created_at: 1763683200.123 },
      }),
    ),
    next_cursor: NextCursor,
  }).meta({ id: 'ConversationWithMessages' }),
  refusals: ['busy'],
});

export const deleteConversation = api.delete(`${path}/{conversation_id}`, {
  id: 'deleteConversation',
  summary: 'Delete one of your own conversations',
  description: 'Deletes all its messages, too. A chat that is running in it gets 404 `not_found`.',
  access: permissions.ownConversations,
  answer: Deleted,
});
