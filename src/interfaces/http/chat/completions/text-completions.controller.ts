import { injectable } from 'inversify';
import { ChatService } from '../../../../application/chat/chat.service.js';
import { Clock, IdGenerator } from '../../../../application/shared/ports.js';
import { ContextLengthExceeded } from '../../../../domain/chat/errors.js';
import { type CallOf, type Controller, Reply, route, StreamedResponse } from '../../contract.js';
import { eventStream, HEARTBEAT_MS } from '../../event-stream.js';
import { JSON_TYPE } from '../../middleware/respond.js';
import { wholeSeconds } from '../../schemas.js';
import { modelHeader } from '../dialects.js';
import { verbatimJson } from '../openai/answer-mapper.js';
import { textAnswer, textEvents } from './answer-mapper.js';
import { textRequestOf } from './completion-request.js';
import { createOpenAiCompletion } from './completions.contract.js';

@injectable()
export class TextCompletionsController implements Controller {
  readonly routes = [route(createOpenAiCompletion, (call) => this.create(call))];

  heartbeatMs = HEARTBEAT_MS;

  constructor(
    private readonly chats: ChatService,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  private async create(call: CallOf<typeof createOpenAiCompletion>) {
    try {
      return await this.completed(call);
    } catch (error) {
      throw error instanceof ContextLengthExceeded ? new ContextLengthExceeded(error.message, 'prompt') : error;
    }
  }

  private async completed({ caller, body, signal, memory }: CallOf<typeof createOpenAiCompletion>) {
    const { model } = body;
    const request = textRequestOf(body);
    const { texts = [], choices = 1 } = request;
    const head = { id: this.ids.next('cmpl'), created: wholeSeconds(this.clock.now()), model };
    const input = { model, keptIn: null, answerId: head.id, request, signal, memory };
    const beginning = (choice: number) => (body.echo === true ? (texts[Math.floor(choice / choices)] ?? '') : '');
    if (body.stream) {
      const { parts, modelId, expired } = await this.chats.stream(caller, input);
      const includesUsage = body.stream_options?.include_usage === true;
      const events = textEvents(parts, { ...head, includesUsage, beginning });
      return eventStream({ events, headers: () => modelHeader(modelId()), expired, heartbeatMs: this.heartbeatMs });
    }
    const { completion, modelId } = await this.chats.complete(caller, input);
    const { verbatim } = completion;
    const answered = modelHeader(modelId);
    if (verbatim === undefined) return new Reply(200, textAnswer(head, completion, beginning), answered);
    return new StreamedResponse(
      200,
      { 'Content-Type': JSON_TYPE, ...answered },
      Buffer.from(verbatimJson(verbatim, model)),
    );
  }
}
