import { type AddressInfo, createServer, type Socket } from 'node:net';
import { wholeMessage } from './http-messages.js';

/**
 * Runs as a process: an engine that answers every chat with the same text at once, and a stream with 200 chunks in a second.
 * Sends its port to its parent.
 */
const usage = { prompt_tokens: 7, completion_tokens: 6, total_tokens: 13 };
const message = { role: 'assistant', content: 'The capital of France is Paris.' };
const choices = [{ index: 0, message, finish_reason: 'stop' }];
const body = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
const head = ['HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
const answer = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);

const CHUNKS = 200;
const PAUSE_MS = 5;
const streamed = ['HTTP/1.1 200 OK', 'Content-Type: text/event-stream', 'Transfer-Encoding: chunked', '', ''].join(
  '\r\n',
);
const about = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const piece = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const event = (data: object) => piece(`data: ${JSON.stringify({ ...about, ...data })}\n\n`);
const chunk = event({ choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] });
const ends = [
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: CHUNKS, total_tokens: 7 + CHUNKS } }),
  piece('data: [DONE]\n\n'),
  '0\r\n\r\n',
].join('');

function stream(socket: Socket): void {
  socket.write(streamed);
  let left = CHUNKS;
  const timer = setInterval(() => {
    if (left-- > 0 && !socket.destroyed) return void socket.write(chunk);
    clearInterval(timer);
    socket.write(ends);
  }, PAUSE_MS);
}

// The engine uses bare sockets, which leave nearly all of the processors to the measured service.
function serve(socket: Socket): void {
  let received = '';
  socket.setNoDelay().on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
    for (let length = wholeMessage(received); length > 0; length = wholeMessage(received)) {
      const isStream = received.slice(0, length).includes('"stream":true');
      received = received.slice(length);
      if (isStream) stream(socket);
      else socket.write(answer);
    }
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
