import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer, sendJson } from './local-server.js';

export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any request
  readonly body: any;
  readonly headers: IncomingHttpHeaders;
}

/** Answers a chat, or a call for embeddings. */
export type Script = (asked: Asked, response: ServerResponse) => unknown;

/** An engine whose answers a test scripts. By default, it answers chat completions as OpenAI does. */
export class ScriptedEngine extends LocalServer {
  /** Lists every call for a chat or for embeddings, in order of arrival. */
  readonly asked: Asked[] = [];
  script: Script = speaking();
  /** The status of the answer to a probe, or `null` for no answer at all. */
  models: number | null = 200;
  /** The key that requests must have. With null, they may have any. */
  key: string | null = null;
  /** The paths below the base URL. */
  paths = { chat: '/chat/completions', probe: '/models' };
  /** Returns the key of a request. */
  keyOf = (headers: IncomingHttpHeaders): unknown => headers.authorization?.replace('Bearer ', '');
  /** Closes each connection when a request comes. */
  dead = false;

  static start(port = 0): Promise<ScriptedEngine> {
    return new ScriptedEngine().listen(port);
  }

  get url(): string {
    return `http://${this.host}/v1`;
  }

  /** Waits until `times` calls for a chat or for embeddings have come since the start. */
  async wasAsked(times: number): Promise<void> {
    while (this.asked.length < times) await once(this.server, 'asked');
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url, headers, socket } = request;
    const mayAsk = this.key === null || this.keyOf(headers) === this.key;
    if (this.dead) socket.destroy();
    else if (!mayAsk) sendJson(response, 401, { error: { message: `Incorrect API key: ${headers.authorization}` } });
    else if (url === `/v1${this.paths.chat}` || url === '/v1/embeddings') await this.answer(request, response);
    else if (url !== `/v1${this.paths.probe}`) sendJson(response, 404, {});
    else if (this.models !== null) sendJson(response, this.models, {});
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const asked = { body: JSON.parse(text), headers: request.headers };
    this.asked.push(asked);
    this.script(asked, response);
    this.server.emit('asked');
  }
}

/** Returns a chat completion. `over` adds or replaces fields. */
export const completion = (model: string, content: unknown, over: object = {}, finish_reason: unknown = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
  ...over,
});

/** Returns a chunk of a chat completion. `over` adds or replaces fields. */
export const chunk = (model: string, delta: object | null, finish_reason: unknown = null, over: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model,
  choices: delta ? [{ index: 0, delta, finish_reason }] : [],
  ...over,
});

/** Sends server-sent events: JSON, or a text unchanged. */
export function sendEvents(response: ServerResponse, ...events: readonly unknown[]): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
}

/** Sends these events, then ends the body. */
export const streaming =
  (...events: readonly unknown[]): Script =>
  (_, response) => {
    sendEvents(response, ...events);
    response.end();
  };

/** Always gives the same answer, as events if the request wants a stream. */
export const speaking =
  (content = 'The capital of France is Paris.'): Script =>
  (asked, response) => {
    const { model, stream } = asked.body;
    const usage = { prompt_tokens: 7, completion_tokens: 6 };
    if (!stream) sendJson(response, 200, completion(model, content, { usage }));
    else streaming(...chunksOf(model, content, { usage }))(asked, response);
  };

/** Returns the events of an answer, as OpenAI sends them. */
export const chunksOf = (model: string, content: string, over: object = {}, finish_reason: unknown = 'stop') => [
  chunk(model, { role: 'assistant', content: '' }),
  ...content.split(/(?= )/).map((text) => chunk(model, { content: text })),
  chunk(model, {}, finish_reason),
  chunk(model, null, null, over),
  '[DONE]',
];

/** Answers with this status and body. */
export const answering =
  (status: number, json: unknown, headers: Record<string, string> = {}): Script =>
  (_, response) =>
    sendJson(response, status, json, headers);
