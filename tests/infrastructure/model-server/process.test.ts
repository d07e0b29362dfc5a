import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { RequestError } from '../../../src/infrastructure/model-server/process/request-error.js';
import { ThreadedCodec } from '../../../src/infrastructure/model-server/process/threads.js';
import { LargeBodyThread, WorkerThread } from '../../../src/infrastructure/system/worker-thread.js';
import { echo, idler, MadeModels, onnxTypes } from '../../support/model-server/serving-models.js';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const models = new MadeModels();
const idle = models.file('idle', idler());
afterAll(() => models.remove());

describe('a model server', () => {
  const started: ServingProcess[] = [];
  const serve = async (...args: Parameters<typeof ServingProcess.start>) => {
    const serving = await ServingProcess.start(...args);
    started.push(serving);
    return serving;
  };
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.end('SIGKILL')));
  });
  const ENDLESS = ['4611686018427387904'];
  const metrics = (serving: ServingProcess) => fetch(`${serving.url}/metrics`).then((response) => response.text());
  const counts = async (serving: ServingProcess, metric: string, value: number) => {
    const line = `tenon_serving_${metric} ${value}\n`;
    await until(line, async () => (await metrics(serving)).includes(line), 5);
  };

  it('tells what it serves, and gives the health proof with the secret', async () => {
    const about = { id: 'dep_9', name: 'n', modelPath: 'some/iris.onnx', secret: 'ab'.repeat(32) };
    const iris = await serve(fixture('iris.onnx'), about);
    const challenge = '0123456789abcdef';
    const { body, headers } = await iris.get('/health', { 'x-tenon-challenge': challenge });
    expect(body).toEqual({
      status: 'ok',
      id: 'dep_9',
      name: 'n',
      model_path: 'some/iris.onnx',
      inputs: [{ name: 'input', datatype: 'FP32', shape: [-1, 4] }],
      outputs: [
        { name: 'label', datatype: 'INT64', shape: [-1] },
        { name: 'probabilities', datatype: 'FP32', shape: [-1, 3] },
      ],
    });
    const proof = createHmac('sha256', Buffer.from(about.secret, 'hex')).update(challenge).digest('hex');
    expect(headers.get('x-tenon-proof')).toBe(proof);
    for (const malformed of [undefined, 'zz'.repeat(10), 'abc', 'a'.repeat(129)]) {
      const response = await iris.get('/health', malformed === undefined ? {} : { 'x-tenon-challenge': malformed });
      expect([response.status, response.headers.get('x-tenon-proof')]).toEqual([200, null]);
    }
  });

  it.each([
    ['invalid.onnx', /^Invalid model\. Node input 'nowhere' is not a graph input/],
    ['truncated.onnx', /^Protobuf parsing failed\.$/],
    ['missing.onnx', /^missing\.onnx.*|File doesn't exist/],
  ])("tells the loader's reason, and ends, if a file does not load: %s", async (name, reason) => {
    const broken = await ServingProcess.broken(fixture(name));
    expect(broken).toEqual({ reason: expect.stringMatching(reason), code: 0 });
    expect(broken.reason).not.toContain('/');
  });

  describe('while its model runs', () => {
    let busy: ServingProcess;
    let running: Promise<unknown>;
    beforeAll(async () => {
      busy = await ServingProcess.start(idle, { graceMs: 200 });
      // One runs and one is ready. All others wait.
      running = Promise.all([1, 2].map(() => busy.predict({ rounds: ENDLESS }).catch(() => null)));
      await counts(busy, 'running', 2);
    });
    afterAll(() => busy.end('SIGKILL'));

    it('answers /health', async () => {
      expect((await busy.get('/health')).status).toBe(200);
    });

    it('drops a request when its caller leaves', async () => {
      const leaving = new AbortController();
      const body = JSON.stringify({ inputs: { rounds: ENDLESS } });
      const headers = { 'Content-Type': 'application/json' };
      const left = fetch(`${busy.url}/predict`, { method: 'POST', body, headers, signal: leaving.signal });
      await Promise.all([expect(left).rejects.toThrow(), counts(busy, 'queue_length', 1).then(() => leaving.abort())]);
      await counts(busy, 'queue_length', 0);
    });

    // This test must be the last one: it ends the process.
    it('refuses requests when its queue is full, and ends soon although its model does not', async () => {
      const [most, tooMany] = [128, 10];
      const calls = Array.from({ length: most + tooMany }, () => busy.predict({ rounds: ENDLESS }));
      const refused: Awaited<(typeof calls)[number]>[] = [];
      await new Promise<void>((resolve) => {
        for (const call of calls)
          call.then(
            (answer) => refused.push(answer) === tooMany && resolve(),
            () => undefined,
          );
      });
      await busy.end(); // the model would run for ever
      await Promise.allSettled([...calls, running]);
      expect(refused).toHaveLength(tooMany);
      for (const { status, body, headers } of refused) {
        expect([status, body.status, body.code]).toEqual([429, 'error', 'model_busy']);
        expect(headers.get('Retry-After')).toBe('1');
      }
    });
  });

  it('counts its requests and its runs', async () => {
    const iris = await serve(fixture('iris.onnx'));
    await iris.predict({ input: [[1, 2, 3, 4]] });
    await iris.predict({});
    await iris.get('/made/up');
    const text = await metrics(iris);
    expect(text).toContain('tenon_serving_requests_total{route="/predict",status="200"} 1');
    expect(text).toContain('tenon_serving_requests_total{route="/predict",status="422"} 1');
    expect(text).toContain('tenon_serving_requests_total{route="none",status="404"} 1');
    expect(text).toContain('tenon_serving_inference_duration_seconds_count 1');
    expect(text).toContain('tenon_serving_batch_requests_sum 1');
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  });

  it('finishes running requests when it is told to end, and accepts no new ones', async () => {
    const serving = await serve(idle);
    // This run takes a fraction of a second, less than the grace period.
    const running = serving.predict({ rounds: [500_000] });
    await Promise.race([counts(serving, 'running', 1).catch(() => undefined), running]);
    const open = connect(Number(new URL(serving.url).port), '127.0.0.1').setEncoding('utf8');
    await once(open, 'connect');
    const ended = serving.end();
    expect((await running).status).toBe(200);
    expect(await ended).toBe(0);
    open.destroy();
    await expect(serving.get('/health')).rejects.toThrow();
  });

  it('ends with a crash of the model', async () => {
    const division = await serve(fixture('intdiv.onnx'));
    expect((await division.predict({ a: [6], b: [2] })).body.outputs.q.data).toEqual([3]);
    const died = once(division.child, 'exit');
    await expect(division.predict({ a: ['-9223372036854775808'], b: [-1] })).rejects.toThrow();
    expect((await died)[1]).toBe('SIGFPE');
  });

  it('writes nothing of its requests to its output', async () => {
    const multi = await serve(fixture('multi.onnx'));
    const inputs = { name: ['s3cret'], quantity: [1, 2, 3], unit_price: [1, 2], member: [true] };
    await multi.predict(inputs);
    await multi.predict({ s3cret: 1 });
    await multi.post('/predict', 's3cret');
    await multi.end();
    expect(multi.output).toBe('');
  });
});

const MEGABYTE = 1_024 * 1_024;
/** A length just below the limit of a body. */
const LARGE = 62 * MEGABYTE;
/** A length for the bodies that are refused before they are parsed. */
const MEDIUM = 20 * MEGABYTE;
/** Returns bytes, because strings of this size are slow. */
const filled = (piece: string, size = LARGE): Buffer =>
  Buffer.alloc(Math.floor(size / piece.length) * piece.length, piece);
const listed = (piece: string, size?: number): Buffer => filled(`${piece},`, size).subarray(0, -1);
const joined = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
const stays = () => undefined;

describe('large bodies of JSON', () => {
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

  it('gives a caller who leaves, or whose time is over, the reason at once, and forgets what waits', async () => {
    const folder = new TemporaryFolder();
    const program = join(folder.path, 'program.js');
    writeFileSync(
      program,
      `const { parentPort } = require('node:worker_threads');
       parentPort.on('message', ({ gate, name }) => parentPort.postMessage([Atomics.wait(gate, 0, 0), name][1]));`,
    );
    const thread = new LargeBodyThread<{ gate: Int32Array; name: string }, string>(program, {});
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const callers = [new AbortController(), new AbortController(), new AbortController()];
    const leave = (n: number) => callers[n]?.abort(new Error(`${n} left`));
    const [first, second, third] = callers.map(({ signal }, n) =>
      thread.send({ gate, name: String(n) }, new Uint8Array(), signal).catch(({ message }: Error) => message),
    );
    leave(1);
    const ended = Promise.race([second, first]); // the first one is still working
    leave(0);
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    expect(await ended).toBe('1 left');
    expect(await Promise.all([first, second, third])).toEqual(['0 left', '1 left', '2']);
    await thread.close();
    folder.remove();
  });
});
