import { injectable } from 'inversify';
import {
  type ResponseRequest,
  ResponseService,
  type ResponseStream,
} from '../../../../application/chat/response.service.js';
import type { AnswerItem } from '../../../../domain/chat/response.js';
import { InvalidRequest } from '../../../../domain/shared/errors.js';
import type { Json } from '../../../../domain/workspace/json.js';
import { type CallOf, type Controller, type Existence, route, StreamedResponse } from '../../contract.js';
import { eventStream, HEARTBEAT_MS } from '../../event-stream.js';
import { JSON_TYPE } from '../../middleware/respond.js';
import { modelHeader } from '../dialects.js';
import { responseJson } from './answer-mapper.js';
import { inputItems, itemId, type KnownItems, referredResponses } from './items.js';
import { inOwnWords } from './own-words.js';
import { chatRequestOf, repeatedOf } from './request-mapper.js';
import { ResponseEvents } from './response-events.js';
import * as contracts from './responses.contract.js';

@injectable()
export class ResponsesController implements Controller {
  readonly routes = [
    route(contracts.createResponse, (call) => this.create(call)),
    route(contracts.countInputTokens, (call) => this.count(call)),
    route(contracts.readResponse, (call) => this.read(call)),
    route(contracts.deleteResponse, async ({ caller, params: { response_id: id } }) => {
      await this.responses.delete(caller, { id });
      return { id, object: 'response' as const, deleted: true as const };
    }),
    route(contracts.cancelResponse, async ({ caller, params, memory }) =>
      responseJson(await this.responses.cancel(caller, { id: params.response_id, memory })),
    ),
    route(contracts.listInputItems, (call) => this.items(call)),
  ];

  readonly exists: Existence<'response_id'> = {
    response_id: ({ caller, params }) => this.responses.require(caller, { id: params.response_id }),
  };

  heartbeatMs = HEARTBEAT_MS;

  constructor(private readonly responses: ResponseService) {}

  private async create(call: CallOf<typeof contracts.createResponse>) {
    try {
      const request = await this.requestOf(call);
      if (call.body.stream) return await this.streamed(await this.responses.stream(call.caller, request));
      const { response, modelId } = await this.responses.create(call.caller, request);
      const headers = { 'Content-Type': JSON_TYPE, ...modelHeader(modelId) };
      return new StreamedResponse(200, headers, Buffer.from(JSON.stringify(responseJson(response))));
    } catch (error) {
      throw inOwnWords(error);
    }
  }

  private async requestOf({ caller, body, signal, memory }: CallOf<typeof contracts.createResponse>) {
    const items = await this.knownItems(caller, body.input as Json | undefined, memory);
    const request: ResponseRequest = {
      model: body.model,
      request: chatRequestOf(body, items),
      instructions: body.instructions ?? null,
      previousId: body.previous_response_id ?? null,
      store: body.store ?? true,
      background: body.background ?? false,
      repeated: repeatedOf(body),
      ...{ signal, memory },
    };
    return request;
  }

  private async count(call: CallOf<typeof contracts.countInputTokens>) {
    try {
      const input_tokens = await this.responses.countTokens(call.caller, await this.requestOf(call));
      return { object: 'response.input_tokens' as const, input_tokens };
    } catch (error) {
      throw inOwnWords(error);
    }
  }

  private async read({ caller, params, query, signal, memory }: CallOf<typeof contracts.readResponse>) {
    const input = { id: params.response_id, signal, memory };
    const { stream, starting_after: after } = query;
    if (stream === 'true') return this.streamed(await this.responses.follow(caller, input), after);
    if (after !== undefined) throw new InvalidRequest([{ path: 'starting_after', message: 'is only for stream=true' }]);
    return responseJson(await this.responses.read(caller, input));
  }

  private async items({ caller, params, query, memory }: CallOf<typeof contracts.listInputItems>) {
    const { limit, order, after } = query;
    const all = inputItems(await this.responses.read(caller, { id: params.response_id, memory }));
    if (order === 'desc') all.reverse();
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && from === 0)
      throw new InvalidRequest([{ path: 'after', message: 'must be the id of an item of this request' }]);
    const data = all.slice(from, from + limit);
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { object: 'list' as const, data, ...ends, has_more: from + limit < all.length };
  }

  private async knownItems(
    caller: CallOf<typeof contracts.createResponse>['caller'],
    input: Json | undefined,
    memory: CallOf<typeof contracts.createResponse>['memory'],
  ): Promise<KnownItems> {
    const responses = await this.responses.named(caller, { ids: referredResponses(input), memory });
    const items = responses.flatMap(({ id, output }) =>
      output.map((item): [string, AnswerItem] => [itemId(id, item), item]),
    );
    return new Map(items);
  }

  private streamed({ response, modelId, steps, expired }: ResponseStream, after?: number) {
    const events = new ResponseEvents(response, after);
    const failed = events.failed.bind(events);
    const headers = () => modelHeader(modelId());
    return eventStream({ events: events.of(steps), headers, expired, heartbeatMs: this.heartbeatMs, failed });
  }
}
