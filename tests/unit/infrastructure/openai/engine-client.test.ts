import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { EngineClient, EngineGone, UnreadableAnswer } from '../../../../src/infrastructure/openai/engine-client.js';
import { SystemClock } from '../../../../src/infrastructure/system/system-clock.js';

const GOOD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const unending = () => new AbortController().signal;

describe('a client of an engine', () => {
  let server: Server;
  let client: EngineClient;
  /** What each connection does with each request on it; the first connection first. */
  let connections: ((socket: Socket) => unknown)[][];
  let asked: number[];

  beforeEach(async () => {
    connections = [];
    asked = [];
    server = createServer((socket) => {
      const own = connections.shift() ?? [];
      const number = asked.push(0) - 1;
      socket.on('error', () => undefined);
      socket.on('data', () => {
        asked[number] = (asked[number] as number) + 1;
        own.shift()?.(socket);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
    client = new EngineClient({ baseUrl, key: null }, new SystemClock());
  });
  afterEach(() => {
    client.close();
    server.close();
  });

  const says = (text: string) => (socket: Socket) => socket.write(text);
  const breaks = (socket: Socket) => socket.destroy();
  const post = (signal = unending()) => client.post('/chat/completions', {}, signal);

  it('keeps a connection for the next call', async () => {
    connections = [[says(GOOD), says(GOOD)]];
    expect(await post()).toEqual({ status: 200, retryAfter: undefined, text: 'ok' });
    await post();
    expect(asked).toEqual([2]);
  });

  it('asks once more, on a new connection, where a kept one turns out to be closed', async () => {
    connections = [[says(GOOD), breaks], [says(GOOD)]];
    await post();
    expect(await post()).toMatchObject({ status: 200 });
    expect(asked).toEqual([2, 1]);
  });

  it('asks once where a new connection is closed', async () => {
    connections = [[breaks]];
    await expect(post()).rejects.toThrow(EngineGone);
    expect(asked).toEqual([1]);
  });

  it('asks once where an answer has begun', async () => {
    connections = [[says(GOOD), (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok')]];
    await post();
    await expect(post()).rejects.toThrow('broke off');
    expect(asked).toEqual([2]);
  });

  it.each([
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
    ['headers without an end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['an answer without an end', `HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(5_000_000)}`],
  ])('cannot read %s', async (_, answer) => {
    connections = [[says(answer)]];
    await expect(post()).rejects.toThrow(UnreadableAnswer);
  });

  it('ends the connection of a call that is given up', async () => {
    const given = new AbortController();
    const closed = new Promise((resolve) => {
      connections = [
        [
          (socket) => {
            socket.once('close', resolve);
            given.abort(new Error('given up'));
          },
        ],
      ];
    });
    await expect(post(given.signal)).rejects.toThrow('given up');
    await closed;
  });
});
