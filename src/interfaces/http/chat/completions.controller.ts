import type { CompleteChat } from '../../../application/chat/complete-chat.js';
import type { Clock } from '../../../application/shared/ports/clock.js';
import type { Identifiers } from '../../../application/shared/ports/identifiers.js';
import { ModelMismatch } from '../../../domain/chat/errors.js';
import { type AnswerOf, type CallOf, type Controller, route } from '../contract.js';
import { createChatCompletion } from './completions.contract.js';

export class CompletionsController implements Controller {
  readonly routes = [
    route(
      createChatCompletion,
      (call) => this.create(call),
      ({ caller, params }) => this.completeChat.requireProject({ by: caller, projectId: params.project_id }),
    ),
  ];

  constructor(
    private readonly completeChat: CompleteChat,
    private readonly ids: Identifiers,
    private readonly clock: Clock,
  ) {}

  private async create({ caller, params, body, signal }: CallOf<typeof createChatCompletion>) {
    const projectId = params.project_id;
    if (body.model !== projectId) throw new ModelMismatch(projectId);
    const { messages, max_tokens: maxTokens = null, temperature } = body;
    const request = { messages, maxTokens, temperature };
    const { text, finishReason, promptTokens, completionTokens } = await this.completeChat.execute({
      by: caller,
      projectId,
      request,
      signal,
    });
    const answer: AnswerOf<typeof createChatCompletion> = {
      id: this.ids.next('chatcmpl'),
      object: 'chat.completion',
      created: Math.floor(this.clock.now().getTime() / 1000),
      model: projectId,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finishReason }],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
      },
    };
    return answer;
  }
}
