import { AsyncLocalStorage } from 'node:async_hooks';
import { FairQueue, type Turn, WaitEstimate } from '../../../../src/infrastructure/chat-runtimes/fair-queue.js';
import { RuntimeMeter } from '../../../../src/infrastructure/chat-runtimes/runtime-meter.js';

describe('FairQueue', () => {
  let estimate: WaitEstimate;
  let queue: FairQueue;
  /** The calls that got a slot, in order. */
  let begun: string[];
  let refused: string[];
  const turns = new Map<string, Turn>();

  const use = (places: number, most = 100) => {
    estimate = new WaitEstimate();
    queue = new FairQueue(places, most, estimate);
    begun = [];
    refused = [];
  };
  /** Enters a call. The first letter of its name is its caller. */
  const enter = (name: string, tokens = 100) => {
    const turn = { caller: name.charAt(0), tokens, begin: () => begun.push(name), refuse: () => refused.push(name) };
    turns.set(name, turn);
    queue.enter(turn);
  };
  const leave = (name: string, tokens?: number) => queue.leave(turns.get(name) as Turn, tokens);
  /** Ends all calls in the order in which they began. Returns their names in this order. */
  const drain = () => {
    for (let at = 0; at < begun.length; at++) leave(begun[at] as string);
    return begun.join(' ');
  };

  it('serves callers in turns', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) enter(name);
    expect(drain()).toBe('a1 b1 c1 a2 b2 a3');
  });

  it('runs work in its own request context, not in that of the call that ended before', async () => {
    use(1);
    const request = new AsyncLocalStorage<string>();
    const { signal } = new AbortController();
    const work = async (): Promise<[string | undefined, number]> => [request.getStore(), 1];
    const cost = (caller: string) => ({ caller, tokens: 1 });
    const all = ['a', 'b', 'c'].map((caller) => request.run(caller, () => queue.run(cost(caller), signal, work)));
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('gives turns by the tokens of the calls, not by their number', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3']) enter(name, 300);
    for (const name of ['b1', 'b2', 'b3', 'b4', 'b5']) enter(name, 100);
    expect(drain()).toBe('a1 b1 b2 b3 a2 b4 b5 a3');
  });

  it('corrects the cost of a call when it ends', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3']) enter(name, 500);
    for (const name of ['b1', 'b2']) enter(name, 100);
    leave('a1', 10);
    expect(begun.at(-1)).toBe('b1');
    leave('b1');
    expect(begun.at(-1)).toBe('a2');
    leave('a2', 20);
    expect(begun.at(-1)).toBe('a3');
  });

  it('gives a caller no extra turns after a pause', () => {
    use(1);
    enter('b1');
    enter('a1');
    leave('b1');
    for (let n = 2; n <= 10; n++) enter(`a${n}`);
    for (let n = 1; n <= 5; n++) leave(`a${n}`);
    for (let n = 2; n <= 5; n++) enter(`b${n}`);
    begun = [];
    leave('a6');
    expect(drain()).toBe('b2 a7 b3 a8 b4 a9 b5 a10');
  });

  it('forgets all costs when the queue is empty', () => {
    use(1);
    enter('a1', 10_000);
    leave('a1');
    begun = [];
    for (const name of ['b1', 'a2', 'b2']) enter(name);
    expect(drain()).toBe('b1 a2 b2');
  });

  it('fills new slots at once, and ends no call when slots are removed', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3']) enter(name);
    queue.resize(2);
    expect(begun).toEqual(['a1', 'a2']);
    queue.resize(1);
    leave('a1');
    expect(begun).toEqual(['a1', 'a2']);
    leave('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  it('refuses the newest call of the caller with the most calls when another caller comes to a full queue', () => {
    use(1, 4);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) enter(name);
    for (const name of ['b1', 'b2', 'b3', 'c1', 'c2']) enter(name);
    expect(refused).toEqual(['a5', 'a4', 'b3', 'a3', 'c2']);
    expect(drain()).toBe('a1 b1 c1 a2 b2');
  });

  it('advises a wait that grows with the calls in the queue', () => {
    use(2, 9);
    estimate.record(4_000);
    expect(queue.busy.advice.retryAfterSeconds).toBe(2);
    for (let n = 0; n < 11; n++) enter(`a${n}`);
    expect(queue.busy.advice.retryAfterSeconds).toBe(20);
    estimate.record(60_000);
    expect(queue.busy.advice.retryAfterSeconds).toBe(60);
  });
});

describe('RuntimeMeter', () => {
  const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };

  it('counts times with waiting, and the seconds of work without waiting', () => {
    const meter = new RuntimeMeter();
    meter.answered({ usage, waitedMs: 900, firstTokenMs: 100, betweenTokensMs: [2, 40], tookMs: 600 });
    meter.answered({ usage: null, waitedMs: 0, firstTokenMs: null, tookMs: 30 });
    const { firstToken, betweenTokens, answer, ...rest } = meter.figures(null);
    expect(rest).toEqual({ waiting: 0, running: 0, workedSeconds: 0.63, ...usage });
    expect(firstToken).toMatchObject({ count: 1, sum: 1 });
    expect(betweenTokens).toMatchObject({ count: 2, sum: 0.042 });
    expect(answer).toMatchObject({ count: 2, sum: 1.53 });
    const counts = new Map(answer.within.map(({ seconds, count }) => [seconds, count]));
    expect([0.05, 0.5, 1, 2.5, 60].map((seconds) => counts.get(seconds))).toEqual([1, 1, 1, 2, 2]);
    expect(firstToken.within.find(({ seconds }) => seconds === 1)?.count).toBe(1);
  });
});
