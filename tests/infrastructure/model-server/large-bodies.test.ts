import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { RequestError } from '../../../src/infrastructure/model-server/process/request-error.js';
import { ThreadedCodec, WorkerThread } from '../../../src/infrastructure/model-server/process/threads.js';
import { echo, MadeModels, onnxTypes } from '../../support/model-server/serving-models.js';
import { ServingProcess } from '../../support/model-server/serving-process.js';
import { until } from '../../support/until.js';

const MEGABYTE = 1_024 * 1_024;
/** Is just below the limit of a body. */
const LARGE = 62 * MEGABYTE;
/** Is enough for the bodies that are refused before they are parsed. */
const MEDIUM = 20 * MEGABYTE;
/** Returns bytes, because strings of this size are slow. */
const filled = (piece: string, size = LARGE): Buffer =>
  Buffer.alloc(Math.floor(size / piece.length) * piece.length, piece);
const listed = (piece: string, size?: number): Buffer => filled(`${piece},`, size).subarray(0, -1);
const joined = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
const stays = () => undefined;

describe('large bodies of JSON', () => {
  const models = new MadeModels();
  let serving: ServingProcess;
  beforeAll(async () => {
    const { FP32, INT64 } = onnxTypes;
    serving = await ServingProcess.start(models.file('echo', echo({ x: FP32, n: INT64 })));
  });
  beforeEach(() => {
    if (process.platform === 'linux') writeFileSync(`/proc/${serving.pid}/clear_refs`, '5');
  });
  afterAll(async () => {
    await serving.end();
    models.remove();
  });

  /** Sends a body piece by piece, because `fetch` copies it. */
  const send = async (...inputs: (string | Buffer)[]) => {
    const pieces = ['{"inputs":{', ...inputs, '},"outputs":["n_out"]}'];
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': length };
    const sent = request(`${serving.url}/predict`, { method: 'POST', headers });
    sent.on('error', stays); // the connection may be reset after the answer
    for (const piece of pieces) sent.write(piece);
    const [response] = await once(sent.end(), 'response');
    // biome-ignore lint/suspicious/noExplicitAny: each answer has a shape of its own
    return { status: response.statusCode, body: (await json(response)) as any };
  };
  /** Returns the largest memory of the process since the test began. */
  const mostMemory = (): number => {
    if (process.platform !== 'linux') return 0;
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${serving.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  };

  it.each<[string, () => (string | Buffer)[], RegExp]>([
    ['keys', () => ['"x":{', filled('"k":1,', MEDIUM).subarray(0, -1), '}'], /object members/],
    ['short values', () => ['"x":[', listed('0'), ']'], /8000000 values; send .*binary data or as base64/],
    ['strings', () => ['"x":[', listed('"abcdef"', 60 * MEGABYTE), ']'], /must be a number/],
    [
      'long integers',
      () => ['"x":[],"n":[', listed('9007199254740993', MEDIUM), ']'],
      /integers of 16 digits; .*base64/,
    ],
    [
      'values beside a long integer',
      () => ['"x":[],"n":[1.5,9007199254740993,', filled('1,', 7.9 * MEGABYTE), '1]'],
      /whole number/,
    ],
  ])('of too many %s are refused with little memory', async (_, inputs, message) => {
    const { status, body } = await send(...inputs());
    expect([status, body.code]).toEqual([422, 'invalid_request']);
    expect(body.error).toMatch(message);
    expect(mostMemory()).toBeLessThan(900 * MEGABYTE);
  });

  it('of floats are accepted, with any number of digits', async () => {
    const { status, body } = await send('"x":[', listed('0.12345678901234567'), '],"n":[7]');
    expect([status, body.outputs?.n_out.data]).toEqual([200, [7]]);
    expect(mostMemory()).toBeLessThan(900 * MEGABYTE);
  });
});

describe('the thread for large bodies', () => {
  const signature = { inputs: [{ name: 'x', datatype: 'FP32', shape: [-1] }], outputs: [] } as const;
  const program = join(process.cwd(), 'dist/src/infrastructure/model-server/process/codec-worker.js');
  const received = (data: Buffer) => {
    const body = new Uint8Array(joined('{"inputs":{"x":[', data, ']}}'));
    return { kind: 'predict' as const, bytes: body, jsonLength: null };
  };
  let codecs: ThreadedCodec | undefined;
  afterEach(() => codecs?.close());
  const fine = () => received(listed('1.5', MEGABYTE));

  it('is replaced if it runs out of memory; only the faulty request fails', async () => {
    codecs = new ThreadedCodec({ signature, name: 'a' }, program, 32);
    const faulty = codecs.decode(received(listed('"abcdef"', 40 * MEGABYTE)), stays);
    const next = codecs.decode(fine(), stays);
    await expect(faulty).rejects.toMatchObject({ status: 422, message: expect.stringContaining('too much memory') });
    expect((await next).inputs[0]?.shape).toEqual([MEGABYTE / 4]);
  });

  it('reports its end once, with the error that ended it', async () => {
    const ends: string[] = [];
    const thread = new WorkerThread(join(__dirname, 'missing.js'), null, ({ message }) => ends.push(message));
    await until('the thread has ended', () => ends.length > 0);
    await thread.terminate();
    expect(ends).toEqual([expect.stringContaining('Cannot find module')]);
  });

  it('drops a request when its caller leaves while it waits', async () => {
    codecs = new ThreadedCodec({ signature, name: 'a' }, program);
    const first = codecs.decode(fine(), stays);
    let leave: () => void = stays;
    const left = codecs.decode(fine(), (forget) => {
      leave = forget;
    });
    leave();
    await expect(left).rejects.toMatchObject({ code: 'bad_request' } satisfies Partial<RequestError>);
    await expect(codecs.decode(fine(), (forget) => forget())).rejects.toMatchObject({ code: 'bad_request' });
    expect((await first).inputs).toHaveLength(1);
  });
});
