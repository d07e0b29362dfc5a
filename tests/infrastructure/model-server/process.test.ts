import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { idler, MadeModels } from '../../support/model-server/serving-models.js';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';
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
