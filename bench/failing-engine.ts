import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Runs as a process: an engine that answers each chat after a time, in milliseconds. Its parent can send `failing` or
 * `silent`: then it still answers probes, but each chat fails or gets no answer. Sends its port to its parent.
 */
const ANSWER_MS = Number(process.argv[2] ?? 0);
const message = { role: 'assistant', content: 'The capital of France is Paris.' };
const choices = [{ index: 0, message, finish_reason: 'stop' }];
const usage = { prompt_tokens: 7, completion_tokens: 6, total_tokens: 13 };
const body = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage });

let mode = 'good';

const server = createServer((request, response) => {
  const answer = (status: number, text: string) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
  if (request.method === 'GET') answer(200, '{}');
  else if (mode === 'failing') answer(500, '{}');
  else if (mode === 'good') setTimeout(answer, ANSWER_MS, 200, body);
  request.resume();
});
process.on('message', (wanted) => {
  mode = String(wanted);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
