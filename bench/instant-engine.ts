import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A program: an engine that answers every chat at once with the same. Tells its port to whoever started it. */
const usage = { prompt_tokens: 7, completion_tokens: 6, total_tokens: 13 };
const message = { role: 'assistant', content: 'The capital of France is Paris.' };
const choices = [{ index: 0, message, finish_reason: 'stop' }];
const answer = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.once('end', () => response.writeHead(200, headers).end(answer));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
