import { type AddressInfo, createServer, type Socket } from 'node:net';
import { wholeMessage } from './http-messages.js';

/** Runs as a process: an engine that answers every chat with the same text at once. Sends its port to its parent. */
const usage = { prompt_tokens: 7, completion_tokens: 6, total_tokens: 13 };
const message = { role: 'assistant', content: 'The capital of France is Paris.' };
const choices = [{ index: 0, message, finish_reason: 'stop' }];
const body = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
const head = ['HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
const answer = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);

// The engine uses bare sockets, which leave nearly all of the processors to the measured service.
function serve(socket: Socket): void {
  let received = '';
  socket.setNoDelay().on('error', () => socket.destroy());
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
    for (let length = wholeMessage(received); length > 0; length = wholeMessage(received)) {
      received = received.slice(length);
      socket.write(answer);
    }
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
