import type { BatchVerdict } from '../../../src/infrastructure/model-server/process/batches.js';
import { InferenceQueue, Watchdog } from '../../../src/infrastructure/model-server/process/inference-queue.js';
import type { RunResult } from '../../../src/infrastructure/model-server/process/model-worker.js';
import { RequestError } from '../../../src/infrastructure/model-server/process/request-error.js';
import type { Tensors } from '../../../src/infrastructure/model-server/process/tensors.js';

/** Returns its input as soon as the test calls `end`. */
class FakeSession {
  verdict: BatchVerdict = 'equal';
  readonly runs: Tensors[] = [];
  private readonly ends: (() => void)[] = [];

  run = (feeds: Tensors): Promise<RunResult> => {
    this.runs.push(feeds);
    return new Promise((resolve) => this.ends.push(() => resolve({ outputs: feeds })));
  };

  /** Makes the outputs of a joined run. A test may make them differ. */
  joinedOutputs = (feeds: Tensors): Tensors => feeds;

  runJoined = (feeds: Tensors): Promise<RunResult> =>
    this.run(feeds).then(() => ({ outputs: this.joinedOutputs(feeds) }));

  get rows(): number[] {
    return this.runs.map(([tensor]) => tensor?.shape[0] as number);
  }

  /** Ends the run that began first, and lets happen what follows from that. */
  async end(): Promise<void> {
    this.ends.shift()?.();
    await jest.advanceTimersByTimeAsync(0);
  }
}

describe('the queue before a model', () => {
  let session: FakeSession;
  let refusedBatching: number;
  beforeEach(() => {
    jest.useFakeTimers();
    session = new FakeSession();
    refusedBatching = 0;
  });
  afterEach(() => jest.useRealTimers());

  const queueOf = (batching: { maxRows: number; maxDelayMs: number } | null) =>
    new InferenceQueue(session, batching, {
      runStarted: () => () => undefined,
      batchingRefused: () => {
        refusedBatching++;
      },
    });
  const feeds = (rows: number, width = 1): Tensors => [
    { datatype: 'FP32', shape: [rows, width], data: new Float32Array(rows * width).fill(rows) },
  ];
  const stays = () => undefined;
  const ask = (queue: InferenceQueue, count: number) =>
    Array.from({ length: count }, () => queue.run(feeds(1), stays).catch((error: RequestError) => error));

  it('gives the model one request at a time, and has one ready for it', async () => {
    const queue = queueOf(null);
    const answers = ask(queue, 4);
    expect([session.runs.length, queue.length]).toEqual([2, 2]);
    await session.end();
    expect([session.runs.length, queue.length]).toEqual([3, 1]);
    expect(await answers[0]).toEqual(feeds(1));
  });

  it('lets nobody wait for more than a minute', async () => {
    const answers = ask(queueOf(null), 3);
    await jest.advanceTimersByTimeAsync(60_000);
    const refusal = (await answers[2]) as RequestError;
    expect([refusal.status, refusal.code]).toEqual([504, 'inference_timeout']);
    await session.end();
    await session.end();
    expect(await Promise.all(answers.slice(0, 2))).toEqual([feeds(1), feeds(1)]);
    expect(session.runs).toHaveLength(2);
  });

  it('lets 128 wait, and no more', async () => {
    const queue = queueOf(null);
    ask(queue, 130);
    expect(queue.length).toBe(128);
    await expect(async () => queue.run(feeds(1), stays)).rejects.toMatchObject({ status: 429, code: 'model_busy' });
  });

  it('forgets who leaves while waiting', async () => {
    const queue = queueOf(null);
    ask(queue, 2);
    let leave: () => void = stays;
    const left = queue.run(feeds(1), (forget) => {
      leave = forget;
    });
    leave();
    await expect(left).rejects.toBeInstanceOf(RequestError);
    expect(queue.length).toBe(0);
  });

  it('runs a lone request at once', async () => {
    const queue = queueOf({ maxRows: 8, maxDelayMs: 1_000 });
    for (let times = 0; times < 3; times++) {
      const [answer] = ask(queue, 1);
      expect(session.runs).toHaveLength(times + 1);
      await session.end();
      await answer;
    }
  });

  it('runs together what has gathered while the model was busy, up to the most rows', async () => {
    const queue = queueOf({ maxRows: 4, maxDelayMs: 1_000 });
    const answers = ask(queue, 7);
    expect(session.rows).toEqual([1]);
    await session.end();
    expect(session.rows).toEqual([1, 4]);
    await session.end();
    // Four came together before, so that the two wait for others, until it has been long enough.
    expect(session.rows).toEqual([1, 4]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(session.rows).toEqual([1, 4, 2]);
    await session.end();
    expect(await Promise.all(answers)).toEqual(new Array(7).fill(feeds(1)));
  });

  it('waits no longer than until as many have come as before', async () => {
    const queue = queueOf({ maxRows: 8, maxDelayMs: 1_000 });
    ask(queue, 4);
    await session.end();
    await session.end();
    ask(queue, 2);
    expect(session.rows).toEqual([1, 3]);
    ask(queue, 1);
    expect(session.rows).toEqual([1, 3, 3]);
  });

  it('runs a request of more rows than that alone, and different shapes apart', async () => {
    const queue = queueOf({ maxRows: 4, maxDelayMs: 10 });
    const answers = [feeds(1), feeds(1), feeds(9), feeds(2, 3), feeds(1), feeds(1, 3)].map((one) =>
      queue.run(one, stays),
    );
    for (let turn = 0; turn < 8; turn++) {
      await session.end();
      await jest.advanceTimersByTimeAsync(10);
    }
    expect(session.rows).toEqual([1, 2, 9, 3]);
    expect((await Promise.all(answers)).map(([tensor]) => tensor?.shape[0])).toEqual([1, 1, 9, 2, 1, 1]);
  });

  it('runs one by one until it is known that the model allows more, and for ever where it does not', async () => {
    session.verdict = 'unknown';
    const queue = queueOf({ maxRows: 8, maxDelayMs: 0 });
    ask(queue, 5);
    await session.end();
    expect(session.rows).toEqual([1, 1]);
    session.verdict = 'different';
    await session.end();
    await session.end();
    await session.end();
    expect(session.rows).toEqual([1, 1, 1, 1, 1]);
    expect(refusedBatching).toBe(1);
  });

  /** Joined runs of two requests each; the answers of the last two. */
  const joinedRuns = async (queue: InferenceQueue, count: number): Promise<unknown[]> => {
    const first = ask(queue, 3);
    await session.end();
    let pair = first.slice(1);
    for (let run = 1; run < count; run++) {
      await session.end();
      pair = ask(queue, 2);
    }
    return pair;
  };

  it('compares each hundredth joined run with what its requests get alone', async () => {
    const queue = queueOf({ maxRows: 2, maxDelayMs: 1_000 });
    const pair = await joinedRuns(queue, 100);
    expect(session.rows.slice(-2)).toEqual([2, 2]);
    session.runs.length = 0;
    for (let end = 0; end < 3; end++) await session.end();
    expect(session.rows).toEqual([1, 1]);
    expect(await Promise.all(pair)).toEqual([feeds(1), feeds(1)]);
    expect(refusedBatching).toBe(0);
  });

  it('ends running together where these differ, and answers what each gets alone', async () => {
    const queue = queueOf({ maxRows: 2, maxDelayMs: 1_000 });
    const pair = await joinedRuns(queue, 100);
    session.joinedOutputs = ([tensor]) => [{ ...(tensor as Tensors[number]), data: Float32Array.of(7, 7) }];
    for (let end = 0; end < 3; end++) await session.end();
    expect(await Promise.all(pair)).toEqual([feeds(1), feeds(1)]);
    expect(refusedBatching).toBe(1);
    ask(queue, 3);
    expect(session.rows.slice(-2)).toEqual([1, 1]);
  });
});

describe('the watch over the runs of a model', () => {
  const onHang = jest.fn();
  let watchdog: Watchdog;
  beforeEach(() => {
    jest.useFakeTimers();
    onHang.mockClear();
    watchdog = new Watchdog(1_000, onHang);
  });
  afterEach(() => jest.useRealTimers());

  it('tells of a run that does not end in time', () => {
    watchdog.runStarted();
    jest.advanceTimersByTime(999);
    expect(onHang).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(onHang).toHaveBeenCalledTimes(1);
  });

  it('counts the time of a run that waited behind another from the end of that one', () => {
    const [first, second] = [watchdog.runStarted(), watchdog.runStarted()];
    jest.advanceTimersByTime(900);
    first();
    jest.advanceTimersByTime(900);
    expect(onHang).not.toHaveBeenCalled();
    second();
    jest.advanceTimersByTime(60_000);
    expect(onHang).not.toHaveBeenCalled();
    watchdog.runStarted();
    jest.advanceTimersByTime(1_000);
    expect(onHang).toHaveBeenCalledTimes(1);
  });
});
