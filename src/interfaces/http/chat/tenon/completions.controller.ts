import { injectable } from 'inversify';
import { ChatService } from '../../../../application/chat/chat.service.js';
import { Clock, IdGenerator } from '../../../../application/shared/ports.js';
import { ModelMismatch } from '../../../../domain/chat/errors.js';
import { type AnswerOf, type CallOf, type Controller, type Existence, Reply, route } from '../../contract.js';
import { wholeSeconds } from '../../schemas.js';
import { CONVERSATION, modelHeader, usageAnswer } from '../dialects.js';
import { createChatCompletion } from './completions.contract.js';

@injectable()
export class CompletionsController implements Controller {
  readonly routes = [route(createChatCompletion, (call) => this.create(call))];

  readonly exists: Existence<'project_id'> = {
    project_id: ({ caller, params, headers }) =>
      this.chats.requirePlace(caller, { projectId: params.project_id, keptIn: headers[CONVERSATION] ?? null }),
  };

  constructor(
    private readonly chats: ChatService,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  private async create({ caller, params, headers, body, signal, memory }: CallOf<typeof createChatCompletion>) {
    const projectId = params.project_id;
    if (body.model !== projectId) throw new ModelMismatch(projectId);
    const { messages, max_tokens: maxTokens = null, temperature } = body;
    const request = { messages, maxTokens, temperature };
    const keptIn = headers[CONVERSATION] ?? null;
    const answerId = this.ids.next('chatcmpl');
    const input = { projectId, keptIn, answerId, request, signal, memory };
    const { completion, modelId, conversationId } = await this.chats.complete(caller, input);
    const { text, finishReason, usage } = completion;
    const answer: AnswerOf<typeof createChatCompletion> = {
      id: answerId,
      object: 'chat.completion',
      created: wholeSeconds(this.clock.now()),
      model: projectId,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: text },
          finish_reason: finishReason === 'length' ? 'length' : 'stop',
        },
      ],
      usage: usageAnswer(usage),
    };
    const kept: Record<string, string> = conversationId === null ? {} : { [CONVERSATION]: conversationId };
    return new Reply(200, answer, { ...modelHeader(modelId), ...kept });
  }
}
