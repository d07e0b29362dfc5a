import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Runs as a process: an engine whose answers are as large and as costly as the service accepts. The name of the model
 * chooses the answer. Sends its port to its parent.
 */
const MB = 1024 * 1024;
const filled = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length));

const entry = (n: number) => ({
  token: ` tok${n % 100}`,
  logprob: -1.2345678 - n / 1_000,
  bytes: [32, 116, 111, 107, 48 + (n % 10)],
});
const tokens = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...entry(n),
    top_logprobs: Array.from({ length: 20 }, (_, top) => entry(n + top)),
  }));

function whole(model: string, message: object, more: object = {}): string {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'Hi', ...message }, finish_reason: 'stop', ...more },
  ];
  return JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model, choices });
}

function event(model: string, delta: object, finish_reason: string | null = null, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason, ...more }];
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model, choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

const call = (n: number) => ({
  id: `call_${n}`,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  x: Array(75).fill(n),
});
const vectors = Array.from({ length: 256 }, (_, index) => ({
  object: 'embedding',
  index,
  embedding: Array.from({ length: 1_536 }, (_, n) => Math.sin(index + n)),
}));

const answers: Readonly<Record<string, string>> = {
  rich: whole('rich', {}, { logprobs: { content: tokens(4_096) } }),
  nested: `{"a":${'['.repeat(8 * MB - 100)}`,
  values: whole('values', {}).replace('{', `{"x":[${filled('{"a":0},', 5 * MB)}0],`),
  text: whole('text', { content: 'x'.repeat(8 * MB - 1_000) }),
  tools: whole('tools', { content: null, tool_calls: Array.from({ length: 128 }, (_, n) => call(n)) }),
  vectors: JSON.stringify({ object: 'list', model: 'vectors', data: vectors }),
};

/** The pieces of a stream, and how often they are sent. */
const streams: Readonly<Record<string, readonly [string, number]>> = {
  'rich events': [event('rich events', { content: 'x' }, null, { logprobs: { content: tokens(140) } }), 240],
  'one line': [`data: ${'x'.repeat(8 * MB)}`, 1],
  'nested events': [`data: {"a":${'['.repeat(200_000)}\n\n`, 60],
  // These events are just below the size from which another thread reads them.
  'long tokens': [
    event('long tokens', { content: 'x' }, null, {
      logprobs: { content: Array(28).fill({ token: 'é'.repeat(990), logprob: -1 }) },
    }),
    2_000,
  ],
  'odd calls': [event('odd calls', { tool_calls: [{ x: Array(9_500).fill(0) }] }), 3_000],
  'carriage returns': [filled('\r', 64 * 1024), 1_000],
  'small events': [filled(event('small events', { content: 'abcdefgh' }), MB), 60],
};

async function stream(
  response: ServerResponse,
  model: string,
  [piece, times]: readonly [string, number],
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let n = 0; n < times && !response.destroyed; n++)
    if (!response.write(piece)) await once(response, 'drain', { signal: left.signal }).catch(() => undefined);
  response.end(event(model, {}, 'stop'));
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { model = '' } = body ? JSON.parse(body) : {};
  const pieces = streams[model];
  if (pieces) await stream(response, model, pieces);
  else response.writeHead(200, { 'Content-Type': 'application/json' }).end(answers[model] ?? '{}');
}

const server = createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
