import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionFailed, HttpClient, InvalidAnswer } from '../../../src/infrastructure/http-client/http-client.js';

const GOOD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const unending = () => new AbortController().signal;

describe('the HTTP client', () => {
  let server: Server;
  let client: HttpClient;
  /** Contains a list for each connection, in order: the reactions to its requests. Other requests break it. */
  let connections: ((socket: Socket) => unknown)[][];
  let asked: number[];

  const breaks = (socket: Socket) => socket.destroy();

  beforeEach(async () => {
    connections = [];
    asked = [];
    server = createServer((socket) => {
      const own = connections.shift() ?? [];
      const number = asked.push(0) - 1;
      socket.on('error', () => undefined);
      socket.on('data', () => {
        asked[number] = (asked[number] as number) + 1;
        (own.shift() ?? breaks)(socket);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
    client = new HttpClient(baseUrl);
  });
  afterEach(() => {
    client.close();
    server.close();
  });

  const says = (text: string) => (socket: Socket) => socket.write(text);
  const post = (signal = unending()) => client.send({ method: 'POST', path: '/say', body: '{}', signal });
  /** A connection takes the next request a little after an answer has ended. */
  const rest = () => delay(20);

  it('uses a kept connection again', async () => {
    connections = [[says(GOOD), says(GOOD)]];
    await post();
    await rest();
    await post();
    expect(asked).toEqual([2]);
  });

  it('repeats a request on a new connection if a kept one is closed', async () => {
    connections = [[says(GOOD), breaks], [says(GOOD)]];
    await post();
    await rest();
    expect(await post()).toMatchObject({ status: 200 });
    expect(asked).toEqual([2, 1]);
  });

  it('repeats each of several requests whose kept connections are closed at once', async () => {
    connections = [
      ...Array.from({ length: 8 }, () => [says(GOOD), breaks]),
      ...Array.from({ length: 8 }, () => [says(GOOD)]),
    ];
    const posts = () => Promise.all(Array.from({ length: 8 }, () => post()));
    await posts();
    await rest();
    expect(await posts()).toEqual(Array(8).fill(expect.objectContaining({ status: 200 })));
  });

  it('does not repeat a request that a kept connection breaks off late', async () => {
    connections = [[says(GOOD), (socket) => setTimeout(breaks, 1_100, socket)]];
    await post();
    await rest();
    await expect(post()).rejects.toThrow(ConnectionFailed);
    expect(asked).toEqual([2]);
  });

  it('does not repeat a request if a new connection is closed', async () => {
    connections = [[breaks]];
    await expect(post()).rejects.toThrow(ConnectionFailed);
    expect(asked).toEqual([1]);
  });

  it('does not repeat a request after the answer has begun', async () => {
    connections = [[says(GOOD), (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok')]];
    await post();
    await rest();
    await expect(post()).rejects.toMatchObject({ status: 200 });
    expect(asked).toEqual([2]);
  });

  it.each([
    ['Content-Length: 9\r\n\r\nok'],
    ['Connection: close\r\nContent-Length: 9\r\n\r\nok'],
    ['Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'],
    ['Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'],
  ])('reports a failed connection if it ends within the answer: %j', async (cut) => {
    connections = [[(socket) => socket.end(`HTTP/1.1 200 OK\r\n${cut}`)]];
    const failure = await post().catch((error) => error);
    expect(failure).toBeInstanceOf(ConnectionFailed);
    expect(failure.status).toBe(200);
  });

  const TWO = 'Content-Length: 2\r\n';
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  it.each([
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['a text that is not HTTP', 'hello\r\n\r\n'],
    ['headers that are too long', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['two lengths', `HTTP/1.1 200 OK\r\n${TWO}${TWO}\r\nok`],
    ['two lengths after early hints', `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n${TWO}${TWO}\r\nok`],
    ['two lengths in one header', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
    ['a length and chunks', `HTTP/1.1 200 OK\r\n${TWO}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`],
    ['chunks and a length', `HTTP/1.1 200 OK\r\n${CHUNKED}${TWO}\r\n2\r\nok\r\n0\r\n\r\n`],
    ['bad chunks', `HTTP/1.1 200 OK\r\n${CHUNKED}\r\nzz\r\nok\r\n`],
    ['trailers that are too long', `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n0\r\nX: ${'x'.repeat(100_000)}`],
    ['a length without a body', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n'],
    ['a status below 100', `HTTP/1.1 099 Odd\r\n${TWO}\r\nok`],
    ['another protocol without a name', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['status 100', `HTTP/1.1 100 Continue\r\n\r\n${GOOD}`],
    ['an answer that is too long', `HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n${'x'.repeat(9_000_000)}`],
  ])('throws InvalidAnswer for %s', async (_, answer) => {
    connections = [[says(answer)]];
    await expect(post()).rejects.toThrow(InvalidAnswer);
  });

  it('closes the connection of an aborted call', async () => {
    const leaving = new AbortController();
    const closed = new Promise((resolve) => {
      connections = [
        [
          (socket) => {
            socket.once('close', resolve);
            leaving.abort(new Error('given up'));
          },
        ],
      ];
    });
    await expect(post(leaving.signal)).rejects.toThrow('given up');
    await closed;
  });
});
