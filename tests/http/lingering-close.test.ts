import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Request, Response } from 'express';
import { type LingerLimits, lingeringClose } from '../../src/interfaces/http/middleware/connections.js';

const LONG = 8 * 1024 * 1024;
const NEVER = 10 * 60_000;

const untouched = async () => undefined;
const begun = async (request: IncomingMessage) => {
  const take = () => undefined;
  await once(request.on('data', take), 'data');
  request.off('data', take);
};

/** A caller of a server that answers before it has the body. */
async function refused(limits: LingerLimits, first: (request: IncomingMessage) => Promise<void> = untouched) {
  const server: Server = createServer(async (request, response) => {
    lingeringClose(limits)(request as Request, response as Response, () => undefined);
    await first(request);
    response.writeHead(413, { 'Content-Length': 8 }).end('too much');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [[theirs]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error)).pause();
  const closed = new Promise((resolve) => theirs.once('close', resolve));
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${LONG}\r\n\r\n`);
  const end = () => {
    socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return { socket, errors, closed, end };
}

const patient = { maxMs: NEVER, maxBytes: LONG * 2 };

describe('an answer before all of a request is there', () => {
  it.each([
    ['that nobody has read', untouched],
    ['that somebody has begun to read', begun],
  ])('reaches who sends the rest first, on the last request of a connection %s', async (_, first) => {
    const { socket, errors, closed, end } = await refused(patient, first);
    await new Promise((sent) => socket.write(Buffer.alloc(LONG), sent));
    await closed; // and only now the answer is read
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect({ answer, errors }).toEqual({
      answer: expect.stringMatching(/^HTTP\/1.1 413 [\s\S]*too much$/),
      errors: [],
    });
    await end();
  });

  it.each([
    ['of who sends no more', { maxMs: 100, maxBytes: LONG }, 1],
    ['of who sends more and more', { maxMs: NEVER, maxBytes: LONG / 8 }, LONG - 1],
  ])('ends the connection %s', async (_, rest, bytes) => {
    const { socket, closed, end } = await refused(rest);
    socket.write(Buffer.alloc(bytes));
    await closed;
    await end();
  });
});
