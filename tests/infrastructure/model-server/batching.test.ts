import { crossRows, crossRowsMost, lookUp, MadeModels } from '../../support/model-server/serving-models.js';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';

describe('requests that run together', () => {
  const models = new MadeModels();
  const started: ServingProcess[] = [];
  const serve = async (file: string, maxBatch: number | null = 8) => {
    const serving = await ServingProcess.start(file, { maxBatch, maxDelayMs: 20 });
    started.push(serving);
    return serving;
  };
  afterAll(async () => {
    await Promise.all(started.map((one) => one.end()));
    models.remove();
  });

  type Inputs = Readonly<Record<string, unknown>>;
  const answers = async (serving: ServingProcess, asked: readonly Inputs[]) => {
    const found = await Promise.all(asked.map((inputs) => serving.predict(inputs)));
    return found.map(({ status, body }) => ({ status, body }));
  };
  /** Repeats the requests until some of them have run together. */
  const untilTogether = async (serving: ServingProcess, ask: () => Promise<unknown>) => {
    for (let round = 0; round < 50; round++) {
      await ask();
      const { runs, requests } = await counted(serving);
      if (runs < requests) return;
    }
    throw new Error('no requests ran together');
  };
  const counted = async ({ url }: ServingProcess) => {
    const text = await fetch(`${url}/metrics`).then((response) => response.text());
    const value = (name: string) =>
      Number(new RegExp(`^tenon_serving_batch_requests_${name} (\\d+)`, 'm').exec(text)?.[1]);
    return { runs: value('count'), requests: value('sum') };
  };

  const close = (numbers: readonly number[]) => numbers.map((one) => expect.closeTo(one, 5));

  it('get the same answers as alone, with one row or with several', async () => {
    const alone = await serve(fixture('cnn.onnx'), null);
    const together = await serve(fixture('cnn.onnx'));
    const asked = Array.from({ length: 24 }, (_, one) => {
      const shape = [1 + (one % 3), 1, 28, 28];
      const data = Array.from({ length: (1 + (one % 3)) * 784 }, (_, at) => Math.sin(at * (one + 1)));
      return { image: { data, shape } };
    });
    const expected = await answers(alone, asked);
    await untilTogether(together, async () => {
      const found = await answers(together, asked);
      expect(found.map(({ status }) => status)).toEqual(expected.map(() => 200));
      for (const [at, { body }] of found.entries()) {
        const { data, ...rest } = (expected[at] as (typeof expected)[number]).body.outputs.probabilities;
        expect(body.outputs.probabilities).toEqual({ ...rest, data: close(data) });
      }
    });
    expect(together.output).toBe('');
    const { runs, requests } = await counted(alone);
    expect(runs).toBe(requests);
  });

  it('do not fail together: only the faulty request fails', async () => {
    const serving = await serve(models.file('look-up', lookUp()));
    const asked = Array.from({ length: 16 }, (_, at) => ({ token: [at % 4] }));
    await untilTogether(serving, () => answers(serving, asked));
    const found = await answers(
      serving,
      asked.map((inputs, at) => (at === 7 ? { token: [9] } : inputs)),
    );
    for (const [at, { status, body }] of found.entries()) {
      if (at === 7) expect([status, body.code]).toEqual([422, 'invalid_request']);
      else expect(body.outputs.vector.data).toEqual([(at % 4) * 2, (at % 4) * 2 + 1]);
    }
  });

  it('are not joined if the rows of a model depend on each other', async () => {
    const serving = await serve(models.file('cross-rows', crossRows()));
    const asked = Array.from({ length: 16 }, (_, at) => ({ x: [[at, 2 * at, -at]] }));
    for (let round = 0; round < 5; round++)
      for (const { body } of await answers(serving, asked)) expect(body.outputs.y.data).toEqual([0, 0, 0]);
    expect(serving.output).toMatch(/^batching is off: .*together\n$/);
    const { runs, requests } = await counted(serving);
    expect(runs).toBe(requests);
  });

  it('are not joined if an answer depends on the largest number of all rows', async () => {
    const serving = await serve(models.file('cross-most', crossRowsMost()), 32);
    const asked = Array.from({ length: 16 }, (_, at) => ({ x: [[at, at + 1, at + 2, at + 3]] }));
    await serving.predict(asked[0]);
    for (let round = 0; round < 5; round++)
      for (const { body } of await answers(serving, asked)) expect(body.outputs.y.data).toEqual([-3, -2, -1, 0]);
    expect(serving.output).toMatch(/^batching is off: /);
  });
});
