import { injectable } from 'inversify';
import { ChatService, type ChatStream } from '../../../../application/chat/chat.service.js';
import { ChatModelService, type TeamModel } from '../../../../application/chat/chat-model.service.js';
import { Clock, IdGenerator } from '../../../../application/shared/ports.js';
import type { JsonObject } from '../../../../domain/workspace/json.js';
import { type CallOf, type Controller, Reply, route, StreamedResponse } from '../../contract.js';
import { eventStream, HEARTBEAT_MS } from '../../event-stream.js';
import { JSON_TYPE } from '../../middleware/respond.js';
import { wholeSeconds } from '../../schemas.js';
import { CONVERSATION, modelHeader, usageAnswer } from '../dialects.js';
import { chatEvents, choiceOf, completionText, verbatimJson } from './answer-mapper.js';
import { createOpenAiChatCompletion, listOpenAiModels, readOpenAiModel } from './openai.contract.js';
import { chatRequestOf } from './request-mapper.js';
import { usesFunctions } from './tools-mapper.js';

@injectable()
export class OpenAiController implements Controller {
  readonly routes = [
    route(listOpenAiModels, async ({ caller }) => {
      const { teamId, models } = await this.models.list(caller);
      return { object: 'list' as const, data: models.map((one) => modelAnswer(one, teamId)) };
    }),
    route(readOpenAiModel, async ({ caller, params }) => {
      const { teamId, model } = await this.models.read(caller, { model: params.model });
      return modelAnswer(model, teamId);
    }),
    route(createOpenAiChatCompletion, (call) => this.create(call)),
  ];

  heartbeatMs = HEARTBEAT_MS;

  constructor(
    private readonly models: ChatModelService,
    private readonly chats: ChatService,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  private async create({ caller, headers, body, signal, memory }: CallOf<typeof createOpenAiChatCompletion>) {
    const keptIn = headers[CONVERSATION] ?? null;
    const { model } = body;
    const hasFunctions = usesFunctions(body as unknown as JsonObject);
    const head = { id: this.ids.next('chatcmpl'), created: wholeSeconds(this.clock.now()), model };
    const input = { model, keptIn, answerId: head.id, request: chatRequestOf(body), signal, memory };
    if (body.stream)
      return this.streamed(await this.chats.stream(caller, input), {
        ...head,
        hasFunctions,
        includesUsage: body.stream_options?.include_usage === true,
      });
    const { completion, modelId, conversationId } = await this.chats.complete(caller, input);
    const { verbatim, usage, logprobs } = completion;
    const kept = headersOf(modelId, conversationId);
    const json = { 'Content-Type': JSON_TYPE, ...kept };
    if (verbatim !== undefined) return new StreamedResponse(200, json, Buffer.from(verbatimJson(verbatim, model)));
    const fields = { ...head, object: 'chat.completion' as const, usage: usageAnswer(usage) };
    if (logprobs) return new StreamedResponse(200, json, completionText(fields, completion, hasFunctions));
    const answers = [completion, ...(completion.others ?? [])];
    return new Reply(200, { ...fields, choices: answers.map((one, i) => choiceOf(one, i, hasFunctions)) }, kept);
  }

  private streamed({ parts, modelId, conversationId, expired }: ChatStream, head: Parameters<typeof chatEvents>[1]) {
    const events = chatEvents(parts, head);
    const headers = () => headersOf(modelId(), conversationId);
    return eventStream({ events, headers, expired, heartbeatMs: this.heartbeatMs });
  }
}

const headersOf = (modelId: string | null, conversationId: string | null): Record<string, string> => ({
  ...modelHeader(modelId),
  ...(conversationId !== null && { [CONVERSATION]: conversationId }),
});

const modelAnswer = ({ id, name, createdAt, context }: TeamModel, teamId: string) => ({
  id: name,
  object: 'model' as const,
  created: wholeSeconds(createdAt),
  owned_by: teamId,
  project_id: id,
  context_length: context,
});
