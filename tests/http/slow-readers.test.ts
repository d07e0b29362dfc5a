import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Request, Response } from 'express';
import { type ReadLimits, slowClients } from '../../src/interfaces/http/middleware/connections.js';

const LONG = 16 * 1024 * 1024;
const NEVER = 10 * 60_000;

/** A caller of a server whose answers are long. */
async function asked(limits: ReadLimits) {
  const server: Server = createServer((request, response) => {
    slowClients(limits)(request as Request, response as Response, () => response.end(Buffer.alloc(LONG)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[theirs]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const cutOff = once(theirs, 'close');
  const end = () => {
    socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return { socket, cutOff, end };
}

describe('an answer', () => {
  it('that nobody takes ends its connection', async () => {
    const { cutOff, end } = await asked({ stallMs: 100, wholeMs: NEVER, bytesPerSecond: LONG });
    await cutOff;
    await end();
  });

  it('that is taken drop by drop ends its connection', async () => {
    const { socket, cutOff, end } = await asked({ stallMs: NEVER, wholeMs: 100, bytesPerSecond: LONG });
    socket.pause();
    const drops = setInterval(() => socket.read(1), 10);
    await cutOff;
    clearInterval(drops);
    await end();
  });

  it('that is taken in time leaves its connection for the next', async () => {
    const { socket, end } = await asked({ stallMs: 20_000, wholeMs: 20_000, bytesPerSecond: LONG });
    for (let answers = 0; answers < 2; answers++) {
      for (let bytes = 0; bytes < LONG; ) bytes += (await once(socket, 'data'))[0].length;
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    await end();
  });
});
