import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { ConnectionFailed, HttpClient, InvalidAnswer } from '../../../src/infrastructure/http-client/http-client.js';
import { linesOf } from '../../../src/infrastructure/http-client/json-lines.js';
import { eventsOf } from '../../../src/infrastructure/http-client/server-sent-events.js';

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

  it('rejects at once if it is aborted while the host is looked up', async () => {
    const [left, reason] = [new AbortController(), new Error('left')];
    const lookedUp = new Promise<void>((resolve) => {
      client = new HttpClient('http://engine.example', {}, undefined, () => resolve());
    });
    const call = expect(post(left.signal)).rejects.toBe(reason);
    await lookedUp;
    const began = performance.now();
    left.abort(reason);
    await call;
    expect(performance.now() - began).toBeLessThan(2_000);
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

const MEBIBYTE = 1024 * 1024;

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  for (const [i, end] of ends.entries()) yield bytes.slice(ends[i - 1] ?? 0, end);
}

async function read(body: string, cuts: readonly number[] = [], type = 'text/event-stream; charset=utf-8') {
  const events: string[] = [];
  const answer = { status: 200, headers: { 'content-type': type }, body: chunksOf(Buffer.from(body), cuts) };
  for await (const data of eventsOf(answer)) events.push(data);
  return events;
}

describe('eventsOf', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((any) => any.replace(/[\r\n\0\uFEFF]/g, ''));
  const anEvent = fc.record({
    lines: fc.array(text, { minLength: 1, maxLength: 3 }),
    event: fc.option(text.filter((name) => name !== '')),
    comment: fc.option(text),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    space: fc.constantFrom('', ' '),
  });

  it('reads the same events for any division of the bytes into chunks', async () => {
    const whole = fc.tuple(fc.array(anEvent, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 8 }), fc.boolean());
    const property = fc.asyncProperty(whole, async ([events, cuts, isEnded]) => {
      const written = events.map(({ lines, event, comment, end, space }) => {
        const named = event === null ? [] : [`event: ${event}`];
        const noted = comment === null ? [] : [`:${comment}`];
        // A reader drops the first space, so a text that begins with a space needs one more.
        return [
          ...noted,
          ...named,
          ...lines.map((line) => `data:${space || (line.startsWith(' ') ? ' ' : '')}${line}`),
          '',
        ]
          .map((line) => line + end)
          .join('');
      });
      const body = written.join('');
      const expected = events.map(({ lines }) => lines.join('\n'));
      expect(await read(isEnded ? body : body.replace(/[\r\n]+$/, ''), cuts)).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('limits the length of an event, in one line or in several, and of the whole answer', async () => {
    const line = `data: ${'x'.repeat(MEBIBYTE / 16)}\n`;
    expect(await read(`${line.repeat(3)}\n`.repeat(2))).toHaveLength(2);
    const tooLong = { problem: 'it has an event that is too long.' };
    await expect(read(`data: ${'x'.repeat(2 * MEBIBYTE)}`, [9])).rejects.toMatchObject(tooLong);
    await expect(read(line.repeat(6))).rejects.toMatchObject(tooLong);
    const endless = async function* () {
      for (;;) yield Buffer.from(`:${'x'.repeat(1_000)}\n`.repeat(1_000));
    };
    const events = eventsOf({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: endless() });
    await expect(events.next()).rejects.toMatchObject({ problem: 'it is too long.' });
  });

  it('reads little of all streams together in one turn of the event loop', async () => {
    let inThisTurn = 0;
    let most = 0;
    let reading = true;
    const turn = () => {
      most = Math.max(most, inThisTurn);
      inThisTurn = 0;
      if (reading) setImmediate(turn);
    };
    setImmediate(turn);
    const events = `data: ${'x'.repeat(4_000)}\n\n`.repeat(50);
    const one = async () => {
      const [headers, body] = [{ 'content-type': 'text/event-stream' }, chunksOf(Buffer.from(events), [])];
      let count = 0;
      for await (const data of eventsOf({ status: 200, headers, body })) {
        inThisTurn += data.length;
        count++;
      }
      return count;
    };
    expect(await Promise.all(Array.from({ length: 16 }, one))).toEqual(Array(16).fill(50));
    reading = false;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(32_000);
  });

  it('refuses other media types', async () => {
    const other = { problem: 'it is not the stream of events that was asked for.' };
    for (const type of ['application/json', 'text/event-streams', ''])
      await expect(read('data: x\n\n', [], type)).rejects.toMatchObject(other);
  });
});

async function readLines(chunks: readonly Uint8Array[], type = 'application/x-ndjson') {
  const body = (async function* () {
    yield* chunks;
  })();
  const lines: string[] = [];
  for await (const line of linesOf({ status: 200, headers: { 'content-type': type }, body })) lines.push(line);
  return lines;
}

describe('linesOf', () => {
  it('reads the same lines for any division of the bytes into chunks, with or without an end of the last line', async () => {
    const whole = fc.tuple(
      fc.array(fc.jsonValue(), { maxLength: 5 }),
      fc.array(fc.nat()),
      fc.constantFrom('', '\n', '\r\n\n'),
    );
    const property = fc.asyncProperty(whole, async ([values, cuts, end]) => {
      const bytes = Buffer.from(values.map((value) => JSON.stringify(value)).join('\n') + end);
      const ends = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
      const lines = await readLines(ends.slice(1).map((to, i) => bytes.subarray(ends[i], to)));
      expect(lines.map((line) => JSON.stringify(JSON.parse(line)))).toEqual(
        values.map((value) => JSON.stringify(value)),
      );
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('refuses a line that is too long, ended or not, and another media type', async () => {
    const long = Buffer.alloc(MEBIBYTE, 'x');
    const problem = 'it has a line that is too long.';
    await expect(readLines([long, long])).rejects.toMatchObject({ problem });
    await expect(readLines([Buffer.concat([long, long, Buffer.from('\n')])])).rejects.toMatchObject({ problem });
    await expect(readLines([Buffer.from('{}')], 'text/html')).rejects.toMatchObject({
      problem: 'it is not the stream of events that was asked for.',
    });
  });
});
