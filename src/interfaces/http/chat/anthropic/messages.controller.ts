import { injectable } from 'inversify';
import { ChatService } from '../../../../application/chat/chat.service.js';
import { IdGenerator } from '../../../../application/shared/ports.js';
import { type CallOf, type Controller, Reply, route } from '../../contract.js';
import { eventStream, HEARTBEAT_MS } from '../../event-stream.js';
import { modelHeader } from '../dialects.js';
import { messageEvents, messageOf } from './answer-mapper.js';
import { countAnthropicTokens, createAnthropicMessage } from './messages.contract.js';
import { marksCache } from './messages-request.js';
import { chatRequestOf, promptOf } from './request-mapper.js';

@injectable()
export class MessagesController implements Controller {
  readonly routes = [
    route(createAnthropicMessage, (call) => this.create(call)),
    route(countAnthropicTokens, async ({ caller, body, signal }) => {
      const { model } = body;
      return { input_tokens: await this.chats.countTokens(caller, { model, request: promptOf(body), signal }) };
    }),
  ];

  heartbeatMs = HEARTBEAT_MS;

  constructor(
    private readonly chats: ChatService,
    private readonly ids: IdGenerator,
  ) {}

  private async create({ caller, body, signal, memory }: CallOf<typeof createAnthropicMessage>) {
    const { model, stream } = body;
    const head = { id: this.ids.next('msg'), model, marksCache: marksCache(body) };
    const input = { model, keptIn: null, answerId: head.id, request: chatRequestOf(body), signal, memory };
    if (!stream) {
      const { completion, modelId } = await this.chats.complete(caller, input);
      return new Reply(200, messageOf(head, completion), modelHeader(modelId));
    }
    const { parts, modelId, expired } = await this.chats.stream(caller, input);
    const { heartbeatMs } = this;
    return eventStream({
      events: messageEvents(parts, head),
      headers: () => modelHeader(modelId()),
      expired,
      heartbeatMs,
      failed: ({ body }) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
    });
  }
}
