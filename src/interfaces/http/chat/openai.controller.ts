import { injectable } from 'inversify';
import { ChatService } from '../../../application/chat/chat.service.js';
import { ChatModelService } from '../../../application/chat/chat-model.service.js';
import type { ChatModel } from '../../../application/chat/ports.js';
import { Clock, IdGenerator } from '../../../application/shared/ports.js';
import type { Completion, TokenLogprob } from '../../../domain/chat/chat.js';
import { type AnswerOf, type CallOf, type Controller, Reply, route } from '../contract.js';
import { seconds } from '../schemas.js';
import { CONVERSATION } from './completions.contract.js';
import { usageAnswer } from './completions.controller.js';
import { createOpenAiChatCompletion, listOpenAiModels, readOpenAiModel } from './openai.contract.js';
import { chatRequestOf } from './openai-request.js';

@injectable()
export class OpenAiController implements Controller {
  readonly routes = [
    route(listOpenAiModels, async ({ caller }) => {
      const { teamId, models } = await this.models.list({ by: caller });
      return { object: 'list' as const, data: models.map((one) => modelAnswer(one, teamId)) };
    }),
    route(readOpenAiModel, async ({ caller, params }) => {
      const { teamId, model } = await this.models.read({ by: caller, model: params.model });
      return modelAnswer(model, teamId);
    }),
    route(createOpenAiChatCompletion, (call) => this.create(call)),
  ];

  constructor(
    private readonly models: ChatModelService,
    private readonly chats: ChatService,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  private async create({ caller, headers, body, signal }: CallOf<typeof createOpenAiChatCompletion>) {
    const projectId = await this.models.projectId({ by: caller, model: body.model });
    const keptIn = headers[CONVERSATION] ?? null;
    const input = { by: caller, projectId, keptIn, request: chatRequestOf(body), signal };
    const { completion, conversationId } = await this.chats.complete(input);
    const answer: AnswerOf<typeof createOpenAiChatCompletion> = {
      id: this.ids.next('chatcmpl'),
      object: 'chat.completion',
      created: wholeSeconds(this.clock.now()),
      model: projectId,
      choices: [choiceOf(completion)],
      usage: usageAnswer(completion.usage),
    };
    return new Reply(200, answer, conversationId === null ? {} : { [CONVERSATION]: conversationId });
  }
}

const wholeSeconds = (date: Date) => Math.floor(seconds(date));

const modelAnswer = ({ id, createdAt }: ChatModel, teamId: string) => ({
  id,
  object: 'model' as const,
  created: wholeSeconds(createdAt),
  owned_by: teamId,
});

const choiceOf = ({ text, toolCalls = [], logprobs, finishReason }: Completion) => ({
  index: 0,
  message: {
    role: 'assistant' as const,
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(toolCalls.length > 0 && { tool_calls: [...toolCalls] }),
  },
  logprobs: logprobsAnswer(logprobs),
  finish_reason: finishReason,
});

const logprobsAnswer = (logprobs: readonly TokenLogprob[] | undefined) =>
  logprobs ? { content: logprobs.map(tokenAnswer), refusal: null } : null;

const tokenAnswer = ({ token, bytes, logprob, top }: TokenLogprob) => ({
  token,
  bytes: [...bytes],
  logprob,
  top_logprobs: top.map((one) => ({ token: one.token, bytes: [...one.bytes], logprob: one.logprob })),
});
