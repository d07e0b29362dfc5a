import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { BatchVerdict } from '../../../src/infrastructure/model-server/process/batches.js';
import { BodyReader } from '../../../src/infrastructure/model-server/process/inference.js';
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

  /** Ends the run that began first, and waits until the queue has reacted. */
  async end(): Promise<void> {
    this.ends.shift()?.();
    await jest.advanceTimersByTimeAsync(0);
  }
}

describe('the queue before a model', () => {
  let session: FakeSession;
  let refusedBatching: number;
  let openRuns: number;
  beforeEach(() => {
    jest.useFakeTimers();
    session = new FakeSession();
    refusedBatching = 0;
    openRuns = 0;
  });
  afterEach(() => jest.useRealTimers());

  const queueOf = (batching: { maxRows: number; maxDelayMs: number } | null) =>
    new InferenceQueue(session, batching, {
      runStarted: () => {
        openRuns++;
        return () => openRuns--;
      },
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

  it('runs one request at a time, and keeps one more ready for the model', async () => {
    const queue = queueOf(null);
    const answers = ask(queue, 4);
    expect([session.runs.length, queue.length]).toEqual([2, 2]);
    await session.end();
    expect([session.runs.length, queue.length]).toEqual([3, 1]);
    expect(await answers[0]).toEqual(feeds(1));
  });

  it('lets no request wait for more than a minute', async () => {
    const answers = ask(queueOf(null), 3);
    await jest.advanceTimersByTimeAsync(60_000);
    const refusal = (await answers[2]) as RequestError;
    expect([refusal.status, refusal.code]).toEqual([504, 'inference_timeout']);
    await session.end();
    await session.end();
    expect(await Promise.all(answers.slice(0, 2))).toEqual([feeds(1), feeds(1)]);
    expect(session.runs).toHaveLength(2);
  });

  it('lets at most 128 requests wait', async () => {
    const queue = queueOf(null);
    ask(queue, 130);
    expect(queue.length).toBe(128);
    await expect(async () => queue.run(feeds(1), stays)).rejects.toMatchObject({ status: 429, code: 'model_busy' });
  });

  it('drops a waiting request when its caller leaves', async () => {
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

  it('joins the requests that came while the model was busy, up to the maximum of rows', async () => {
    const queue = queueOf({ maxRows: 4, maxDelayMs: 1_000 });
    const answers = ask(queue, 7);
    expect(session.rows).toEqual([1]);
    await session.end();
    expect(session.rows).toEqual([1, 4]);
    await session.end();
    // Four ran together before, so the two wait for others until the delay is over.
    expect(session.rows).toEqual([1, 4]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(session.rows).toEqual([1, 4, 2]);
    await session.end();
    expect(await Promise.all(answers)).toEqual(new Array(7).fill(feeds(1)));
  });

  it('ends the wait for more requests when as many have come as ran together before', async () => {
    const queue = queueOf({ maxRows: 8, maxDelayMs: 1_000 });
    ask(queue, 4);
    await session.end();
    await session.end();
    ask(queue, 2);
    expect(session.rows).toEqual([1, 3]);
    ask(queue, 1);
    expect(session.rows).toEqual([1, 3, 3]);
  });

  it('runs a request with too many rows alone, and different shapes separately', async () => {
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

  it('runs one by one until joined runs are known to be safe, and always if they are not', async () => {
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

  /** Makes joined runs of two requests each. Returns the answers of the last two. */
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

  it('compares each hundredth joined run with the answers that its requests get alone', async () => {
    const queue = queueOf({ maxRows: 2, maxDelayMs: 1_000 });
    const pair = await joinedRuns(queue, 100);
    expect(session.rows.slice(-2)).toEqual([2, 2]);
    session.runs.length = 0;
    for (const rows of [[1], [1, 1]]) {
      await session.end();
      expect([session.rows, openRuns]).toEqual([rows, 1]); // The watchdog sees these runs, too.
    }
    await session.end();
    expect(await Promise.all(pair)).toEqual([feeds(1), feeds(1)]);
    expect([refusedBatching, openRuns]).toEqual([0, 0]);
  });

  it('joins no more runs if the compared answers differ, and sends what each request gets alone', async () => {
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

describe('the watchdog of a model', () => {
  const onHang = jest.fn();
  let watchdog: Watchdog;
  beforeEach(() => {
    jest.useFakeTimers();
    onHang.mockClear();
    watchdog = new Watchdog(1_000, onHang);
  });
  afterEach(() => jest.useRealTimers());

  it('reports a run that does not end in time', () => {
    watchdog.runStarted();
    jest.advanceTimersByTime(999);
    expect(onHang).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(onHang).toHaveBeenCalledTimes(1);
  });

  it('counts the time of a waiting run from the end of the run before it', () => {
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

const MB = 1024 * 1024;
const compressed = gzipSync(Buffer.alloc(50 * MB));

const requested = () =>
  Object.assign(Readable.from([compressed]), { headers: { 'content-encoding': 'gzip' } }) as unknown as IncomingMessage;

it('BodyReader frees the memory of a compressed body when its caller leaves during the decoding', async () => {
  const bodies = new BodyReader(64 * MB);
  for (let n = 0; n < 6; n++) {
    const response = Object.assign(new EventEmitter(), { closed: false });
    const reading = bodies.read(requested(), response as unknown as ServerResponse, 0);
    setTimeout(() => {
      response.closed = true;
      response.emit('close');
    }, 5);
    await expect(reading).rejects.toThrow('cut off');
  }
  const whole = await bodies.read(requested(), new EventEmitter() as ServerResponse, 0);
  expect(whole).toHaveLength(50 * MB);
});
