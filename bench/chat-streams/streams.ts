import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { ChatMessage } from '../../src/domain/chat/chat.js';
import type { Outcome } from '../chat-engine/contenders.js';

const agent = new Agent({ keepAlive: true });

export interface Endpoint {
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
}

export interface Question {
  readonly messages: readonly ChatMessage[];
  readonly max_tokens: number;
}

/** Sends a question. Returns the request without waiting for the answer. */
export function send({ url, apiKey, model }: Endpoint, question: Question, more: object = {}): ClientRequest {
  const body = JSON.stringify({ model, temperature: 0, ...question, ...more });
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  const sent = request(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, agent });
  sent.end(body);
  return sent;
}

/** Yields the data of each server-sent event. */
export async function* eventsOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of response.setEncoding('utf8')) {
    const events = (rest + piece).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) if (event.startsWith('data: ')) yield event.slice(6);
  }
}

/** Asks for a stream and returns its whole answer. Throws if the stream does not end with `[DONE]`. */
export async function streamed(endpoint: Endpoint, question: Question, begun: number): Promise<Outcome> {
  const sent = send(endpoint, question, { stream: true, stream_options: { include_usage: true } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  let firstTokenMs = Number.NaN;
  let usage = { prompt_tokens: 0, completion_tokens: 0 };
  let last = '';
  for await (const data of eventsOf(response)) {
    last = data;
    if (data === '[DONE]') continue;
    const chunk = JSON.parse(data);
    const content: string = chunk.choices?.[0]?.delta.content ?? '';
    if (content && text === '') firstTokenMs = performance.now() - begun;
    text += content;
    usage = chunk.usage ?? usage;
  }
  if (last !== '[DONE]') throw new Error(`a stream ends with ${response.statusCode} ${last}`);
  return outcome(text, usage, firstTokenMs, begun);
}

/** Asks for an answer without streaming. */
export async function whole(endpoint: Endpoint, question: Question, begun: number): Promise<Outcome> {
  const [response] = (await once(send(endpoint, question), 'response')) as [IncomingMessage];
  let json = '';
  for await (const piece of response.setEncoding('utf8')) json += piece;
  if (response.statusCode !== 200) throw new Error(json);
  const { choices, usage } = JSON.parse(json);
  return outcome(choices[0].message.content, usage, performance.now() - begun, begun);
}

const outcome = (
  text: string,
  usage: { readonly prompt_tokens: number; readonly completion_tokens: number },
  firstTokenMs: number,
  begun: number,
): Outcome => ({
  text,
  promptTokens: usage.prompt_tokens,
  tokens: usage.completion_tokens,
  firstTokenMs,
  tookMs: performance.now() - begun,
});
