import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { HttpClient } from '../../../src/infrastructure/http-client/http-client.js';
import { type JsonBody, jsonBody } from '../../../src/infrastructure/http-client/json-body.js';

const MB = 1024 * 1024;
const textOf = (body: string | JsonBody) => (typeof body === 'string' ? body : Buffer.concat(body.pieces).toString());
const long = { model: 'm', messages: [{ role: 'user', content: `é"\\\n\u{1F986}${'x\u{1F986}'.repeat(2 * MB)}` }] };

describe('the body of a request in JSON', () => {
  it('is the same JSON in pieces if it is long', async () => {
    const values = fc.jsonValue({ maxDepth: 4 });
    const check = fc.asyncProperty(values, fc.string({ unit: 'binary' }), async (value, odd) => {
      const json = { value, odd, none: undefined, padding: `${odd}${'é'.repeat(MB)}${odd}`, empty: [{}, []] };
      const body = (await jsonBody(json)) as JsonBody;
      expect(body.length).toBe(Buffer.concat(body.pieces).length);
      expect(textOf(body)).toBe(JSON.stringify(json));
    });
    await fc.assert(check, { numRuns: 20 });
    expect(await jsonBody(undefined)).toBeUndefined();
    expect(await jsonBody({ short: 'x' })).toBe('{"short":"x"}');
  });

  it('lets other work run while a long one is written', async () => {
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const { pieces } = (await jsonBody(long)) as JsonBody;
    isOver = true;
    expect(turns).toBeGreaterThan(10);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2 * MB);
  });

  it('arrives whole with its length, also again on a new connection', async () => {
    const received: (string | undefined)[] = [];
    const server = createServer(async (request, response) => {
      const body = await text(request);
      received.push(request.headers['content-length']);
      expect(body === JSON.stringify(long)).toBe(true);
      response.end('ok');
      // Closes the kept connection, so that the next request meets it closed.
      setTimeout(() => request.socket.destroy(), 10);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const send = () => client.send({ method: 'POST', path: '/', json: long, signal: AbortSignal.timeout(20_000) });
    expect([(await send()).text, (await send()).text]).toEqual(['ok', 'ok']);
    expect(received).toEqual(Array(2).fill(String(Buffer.byteLength(JSON.stringify(long)))));
    client.close();
    server.close();
  });
});
