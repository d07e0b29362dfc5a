import { batched } from '../../../src/infrastructure/onnx-chat/worker/batches.js';
import type { Network, Row } from '../../../src/infrastructure/onnx-chat/worker/decoder.js';
import type { Past } from '../../../src/infrastructure/onnx-chat/worker/kv-cache.js';
import { Scheduler, type SchedulerSettings } from '../../../src/infrastructure/onnx-chat/worker/scheduler.js';
import type { Generation } from '../../../src/infrastructure/onnx-chat/worker/sequence.js';

const past = (tokens: readonly number[], length = tokens.length): Past => ({
  cache: { rows: 1, length: tokens.length, arrays: [Float32Array.from(tokens)] },
  row: 0,
  start: 0,
  length,
});

/** Continues a sequence with its length as the next token, if its past is right. Records each step. */
class NotingNetwork implements Network {
  /** Lists for each step the first token of each row, and the number of tokens that the row reads. */
  readonly steps: [first: number, tokens: number][][] = [];
  before: (step: number, rows: readonly (readonly number[])[]) => void = () => undefined;

  begin = () => past([]);
  compact = (one: Past) => one;

  async prefill(row: Row): Promise<Past> {
    return past(this.step([row])[0] as number[]);
  }

  async decode(rows: readonly Row[]) {
    return this.step(rows).map((tokens) => ({
      past: past(tokens),
      scores: Array.from({ length: 2_000 }, (_, token) => (token === tokens.length ? 1 : 0)),
    }));
  }

  /** Returns the number of rows of each step. */
  get batches(): number[] {
    return this.steps.map(({ length }) => length);
  }

  private step(rows: readonly Row[]): number[][] {
    const all = rows.map(({ past: { cache, length }, tokens }) => [
      ...(cache.arrays[0] ?? []).slice(0, length),
      ...tokens,
    ]);
    this.before(this.steps.length, all);
    this.steps.push(all.map((tokens, i) => [tokens[0] as number, rows[i]?.tokens.length as number]));
    return all;
  }
}

const settings = {
  stops: new Set<number>(),
  maxBatch: 8,
  bytesPerToken: 1,
  costs: { batch: 1, token: 0 },
  together: true,
  reuse: true,
  kvBytes: 100_000,
  cacheBytes: 0,
};
const use = (changes: Partial<SchedulerSettings> = {}) => {
  const network = new NotingNetwork();
  return { network, scheduler: new Scheduler(network, { ...settings, ...changes }) };
};

const prompt = (first: number, length: number) => [first, ...new Array<number>(length - 1).fill(7)];
const asked = (first: number, length: number, room = 5): Generation => ({
  caller: 'usr_a',
  prompt: prompt(first, length),
  room,
  choose: (scores) => Array.from(scores).indexOf(1),
  add: () => false,
});
const never = () => {
  throw new Error('never');
};
const counted = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('one sequence', () => {
  it('is read in chunks of at most 128 tokens, then written token by token', async () => {
    const { network, scheduler } = use();
    const answer = await scheduler.generate(1, asked(1, 300));
    expect(answer).toMatchObject({ tokens: counted(300, 5), finishReason: 'length', cachedTokens: 0 });
    expect(network.steps.flat().map(([, tokens]) => tokens)).toEqual([128, 128, 44, 1, 1, 1, 1]);
  });

  it('ends at any of its stop tokens, which are no part of the answer', async () => {
    const { scheduler } = use({ stops: new Set([999, 12]) });
    expect(await scheduler.generate(1, asked(1, 10))).toMatchObject({ tokens: [10, 11], finishReason: 'stop' });
  });

  it('ends with a token that its caller calls the last one', async () => {
    const { scheduler } = use();
    const answer = await scheduler.generate(1, { ...asked(1, 10), add: (token) => token === 12 });
    expect(answer).toMatchObject({ tokens: [10, 11, 12], finishReason: 'stop', betweenTokensMs: { length: 2 } });
  });

  it.each([0, 1, 2, 4])('ends after the step in which it is cancelled: %s', async (step) => {
    const { network, scheduler } = use();
    network.before = (now) => now === step && scheduler.cancel(1);
    expect(await scheduler.generate(1, asked(1, 200))).toBeNull();
    expect(network.steps).toHaveLength(step + 1);
  });

  it('tells how many tokens a cancelled answer has', async () => {
    const { network, scheduler } = use();
    const told: unknown[] = [];
    const added: number[] = [];
    const add = (token: number) => added.push(token) === 0;
    network.before = (now) => now === 4 && told.push(scheduler.cancel(1), scheduler.cancel(1), scheduler.cancel(2));
    expect(await scheduler.generate(1, { ...asked(1, 200), add })).toBeNull();
    expect(added.length).toBeGreaterThan(1);
    expect(told).toEqual([{ completionTokens: added.length, cachedTokens: 0 }, null, null]);
  });

  it('yields to the event loop between its steps', async () => {
    const { network, scheduler } = use();
    setImmediate(() => setImmediate(() => setImmediate(() => scheduler.cancel(1))));
    expect(await scheduler.generate(1, asked(1, 5, 400))).toBeNull();
    expect(network.steps.length).toBeLessThan(6);
  });

  it('measures the time to its first token from the call on', async () => {
    const { network, scheduler } = use({ maxBatch: 1 });
    // By this clock, a step takes a millisecond, and everything else takes no time.
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => network.steps.length);
    const [first, second] = await Promise.all([1, 2].map((call) => scheduler.generate(call, asked(call, 5))));
    clock.mockRestore();
    expect(first?.firstTokenMs).toBeGreaterThan(0);
    expect(second?.firstTokenMs).toBeGreaterThan(first?.firstTokenMs as number);
  });
});

describe('several sequences', () => {
  it('are written together, join when their prompt is read, and leave when they are done', async () => {
    const { network, scheduler } = use({ chunk: 10 });
    const answers = await Promise.all([
      scheduler.generate(1, asked(1, 10, 3)),
      scheduler.generate(2, asked(2, 20, 6)),
      scheduler.generate(3, asked(3, 10, 2)),
    ]);
    expect(answers.map((answer) => answer?.tokens)).toEqual([counted(10, 3), counted(20, 6), counted(10, 2)]);
    expect(network.steps.map((step) => step.map(([first]) => first).join('+'))).toEqual([
      '1', // prefill
      '1',
      '2', // its first half
      '1',
      '3',
      '3',
      '2',
      '2',
      '2',
      '2',
      '2',
      '2',
    ]);
  });

  it('have short prompts read in one step, as many as fit into a chunk with their padding', async () => {
    const { network, scheduler } = use({ maxBatch: 9 });
    const lengths = [5, 30, 20, 200, 10, 9];
    const answers = await Promise.all(lengths.map((length, call) => scheduler.generate(call, asked(call, length, 2))));
    expect(answers.map((answer) => answer?.tokens)).toEqual(lengths.map((length) => counted(length, 2)));
    expect(network.steps).toContainEqual([1, 2, 4, 5].map((call) => [call, lengths[call]]));
    const alone = use({ together: false });
    await Promise.all(lengths.map((length, call) => alone.scheduler.generate(call, asked(call, length, 1))));
    expect(Math.max(...alone.network.batches)).toBe(1);
  });

  it('have their prompts read one by one after a step that read several prompts has failed', async () => {
    const { network, scheduler } = use();
    network.before = (_, rows) => {
      if (rows.some(([first]) => first === 2)) throw new Error('out of range');
    };
    const calls = [1, 2, 3].map((call) => scheduler.generate(call, asked(call, 10, 3)));
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('have long prompts read in turns, so that a short one does not wait for a long one', async () => {
    const { network, scheduler } = use();
    const order: number[] = [];
    const lengths = [1_000, 130];
    const calls = lengths.map((length, i) => scheduler.generate(i, asked(i, length, 1)).then(() => order.push(i)));
    await Promise.all(calls);
    expect(order).toEqual([1, 0]);
    expect(network.steps.slice(1, 5)).toEqual([[[0, 128]], [[1, 128]], [[0, 128]], [[1, 2]]]);
  });

  it('are written in several steps if one of them would make the others expensive', async () => {
    const { network, scheduler } = use({ costs: { batch: 100, token: 1 }, chunk: 2_000 });
    const lengths = [50, 600, 40, 60];
    const answers = await Promise.all(lengths.map((length, call) => scheduler.generate(call, asked(call, length, 6))));
    expect(answers.map((answer) => answer?.tokens)).toEqual(lengths.map((length) => counted(length, 6)));
    expect(network.steps).toContainEqual([2, 0, 3].map((call) => [call, 1]));
    expect(Math.max(...network.batches)).toBe(3);
  });

  it('run together only if they fit into the memory at their full length; one always runs', async () => {
    const { network, scheduler } = use({ kvBytes: 100, bytesPerToken: 2 });
    const rooms = [15, 15, 15, 60, 2];
    await Promise.all(rooms.map((room, call) => scheduler.generate(call, asked(call, 10, room))));
    // The memory has room for 50 tokens: two sequences of 25. One of 70 runs alone.
    expect(Math.max(...network.batches)).toBe(2);
    const together = network.steps.filter(({ length }) => length === 2).map((step) => step.map(([first]) => first));
    expect(together.flat()).not.toContain(3);
    // The last sequence would have fitted from the beginning, and did not overtake.
    expect(network.steps.flat().findIndex(([first]) => first === 4)).toBeGreaterThan(
      network.steps.flat().findLastIndex(([first]) => first === 2),
    );
  });

  it('leave before the next step when they are cancelled, at any stage', async () => {
    const { network, scheduler } = use({ maxBatch: 3 });
    network.before = (now) => {
      if (now === 1) scheduler.cancel(2); // in prefill
      if (now === 6) for (const call of [1, 4]) scheduler.cancel(call); // decoding and waiting
    };
    const calls = [1, 2, 3, 4].map((call) => scheduler.generate(call, asked(call, 128, 10)));
    const answers = await Promise.all(calls);
    expect(answers.map((answer) => answer?.tokens.length ?? null)).toEqual([null, null, 10, null]);
    const firsts = network.steps.map((step) => step.map(([first]) => first));
    expect(firsts.slice(2).flat()).not.toContain(2);
    expect(firsts.slice(7).flat()).not.toContain(1);
  });

  it('continue when no token can be chosen for one of them', async () => {
    const { scheduler } = use();
    const failing = { ...asked(2, 10), add: (token: number) => Boolean(token === 12 && never()) };
    const answers = await Promise.allSettled(
      [asked(1, 10), failing, asked(3, 10)].map((one, i) => scheduler.generate(i, one)),
    );
    expect(answers[1]).toEqual({ status: 'rejected', reason: new Error('never') });
    for (const i of [0, 2]) expect(answers[i]).toMatchObject({ value: { tokens: counted(10, 5) } });
  });

  describe('with a late token in one of them', () => {
    /** Returns a sequence. Its third token is late until `ready` or `fail` is called. */
    const late = (first: number) => {
      let [ready, fail] = [() => {}, (_: Error) => {}];
      const promise = new Promise<void>((resolve, reject) => {
        [ready, fail] = [resolve, reject];
      });
      let asks = 0;
      return { ...asked(first, 10, 6), late: () => (++asks === 3 ? promise : null), ready, fail };
    };

    it('continue without the late one, which joins them again', async () => {
      const { network, scheduler } = use();
      const slow = late(1);
      const answers = [slow, asked(2, 10, 6), asked(3, 10, 20)].map((one, i) => scheduler.generate(i, one));
      expect((await answers[1])?.tokens).toEqual(counted(10, 6));
      slow.ready();
      expect((await Promise.all(answers)).map((answer) => answer?.tokens)).toEqual(
        [6, 6, 20].map((n) => counted(10, n)),
      );
      const batches = network.steps.map((step) => step.map(([first]) => first).join(''));
      expect(batches.slice(0, 9)).toEqual(['1', '1', '23', '231', '23', '23', '23', '23', '13']);
    });

    it('get the place of a late one that is cancelled or fails, even if all are late', async () => {
      const { network, scheduler } = use({ maxBatch: 2 });
      const slow = [late(1), late(2)] as const;
      const answers = [...slow, asked(3, 10), asked(4, 10)].map((one, i) => scheduler.generate(i, one));
      const ends = Promise.allSettled(answers);
      while (network.steps.length < 3) await new Promise(setImmediate);
      slow[0].fail(new Error('no mask'));
      expect((await answers[2])?.tokens).toEqual(counted(10, 5));
      scheduler.cancel(1);
      slow[1].ready();
      expect(await ends).toMatchObject([
        { reason: new Error('no mask') },
        { value: null },
        { value: { tokens: counted(10, 5) } },
        { value: { tokens: counted(10, 5) } },
      ]);
      expect(network.steps.flat().filter(([first]) => first < 3)).toHaveLength(6);
    });
  });

  it('continue one by one when a step of them fails; only the faulty one fails', async () => {
    const { network, scheduler } = use();
    network.before = (_, rows) => {
      if (rows.some(([first, ...rest]) => first === 2 && rest.length === 12)) throw new Error('out of range');
    };
    const [first, second, third] = await Promise.allSettled(
      [1, 2, 3].map((call) => scheduler.generate(call, asked(call, 10, 6))),
    );
    expect(second).toEqual({ status: 'rejected', reason: new Error('out of range') });
    for (const answer of [first, third])
      expect(answer).toMatchObject({ status: 'fulfilled', value: { tokens: counted(10, 6) } });
    expect(network.batches.slice(network.batches.lastIndexOf(3))).toContain(2);
  });
});

describe('a beginning that was read before', () => {
  const cached = { cacheBytes: 10_000 };

  it('is not read again, except for the last token', async () => {
    const { network, scheduler } = use(cached);
    const first = await scheduler.generate(1, asked(1, 50, 3));
    const again = await scheduler.generate(2, asked(1, 50, 3));
    expect([first?.cachedTokens, again?.cachedTokens]).toEqual([0, 49]);
    expect(again?.tokens).toEqual(first?.tokens);
    expect(network.steps.slice(3)).toEqual([[[1, 1]], [[1, 1]], [[1, 1]]]);
  });

  it('has the last tokens of several prompts read in one step, or one by one if that step fails', async () => {
    const { network, scheduler } = use(cached);
    const ask = (from: number) =>
      Promise.all([1, 2, 3].map((first) => scheduler.generate(from + first, asked(first, 50, 3))));
    const before = await ask(0);
    const known = network.steps.length;
    expect((await ask(10)).map((one) => one?.tokens)).toEqual(before.map((one) => one?.tokens));
    expect(network.batches.slice(known)).toEqual([3, 3, 3]);
    const refused = network.steps.length;
    network.before = (_, rows) => network.steps.length === refused && rows.length > 1 && never();
    expect((await ask(20)).map((one) => one?.tokens)).toEqual(before.map((one) => one?.tokens));
    expect(network.batches.slice(refused, refused + 2)).toEqual([1, 1]);
  });

  it('may include the answer, and may continue differently', async () => {
    const { scheduler } = use(cached);
    const first = await scheduler.generate(1, asked(1, 50, 10));
    const conversation = [...prompt(1, 50), ...(first?.tokens ?? []), 5, 5];
    const next = await scheduler.generate(2, { ...asked(1, 1), prompt: conversation });
    // The model never read the last token of its answer.
    expect(next).toMatchObject({ cachedTokens: 59, tokens: counted(62, 5) });
    const other = await scheduler.generate(3, { ...asked(1, 1), prompt: [...prompt(1, 30), 9, 9] });
    expect(other).toMatchObject({ cachedTokens: 30, tokens: counted(32, 5) });
  });

  it('may belong to a running sequence, and is then read only once', async () => {
    const { network, scheduler } = use();
    const answers = await Promise.all([1, 2, 3].map((call) => scheduler.generate(call, asked(1, 1_000, 2))));
    for (const answer of answers) expect(answer?.tokens).toEqual([1_000, 1_001]);
    const read = network.steps.flat().reduce((sum, [, tokens]) => sum + tokens, 0);
    expect(read).toBeLessThan(1_000 + 3 * 128 + 3);
  });

  it('may come from a cancelled sequence', async () => {
    const { network, scheduler } = use(cached);
    network.before = (now) => now === 2 && scheduler.cancel(1);
    expect(await scheduler.generate(1, asked(1, 1_000))).toBeNull();
    expect(await scheduler.generate(2, asked(1, 1_000))).toMatchObject({ cachedTokens: 256 });
  });

  it('is read again if the model must read a prompt as a whole', async () => {
    const { network, scheduler } = use({ ...cached, reuse: false });
    const asking = [1, 2].map((call) => scheduler.generate(call, asked(1, 300, 1)));
    const answers = [...(await Promise.all(asking)), await scheduler.generate(3, asked(1, 300, 1))];
    expect(answers.map((answer) => answer?.cachedTokens)).toEqual([0, 0, 0]);
    expect(network.steps.flat().reduce((sum, [, tokens]) => sum + tokens, 0)).toBe(900);
  });
});

const groups = (lengths: number[], step: number) => batched(lengths, (length) => length, { batch: step, token: 1 });

describe('the batches of a step', () => {
  it('have the lowest possible cost', () => {
    const lengths = [7, 12, 30, 31, 90, 200, 210];
    const cost = (all: number[][], step: number) =>
      all.reduce((sum, group) => sum + step + group.length * Math.max(...group), 0);
    for (const step of [1, 20, 60, 150, 500, 2_000]) {
      const ways = Array.from({ length: 2 ** (lengths.length - 1) }, (_, cuts) => {
        const all: number[][] = [[]];
        for (const [i, length] of lengths.entries()) {
          all.at(-1)?.push(length);
          if (cuts & (2 ** i) && i < lengths.length - 1) all.push([]);
        }
        return cost(all, step);
      });
      expect(cost(groups(lengths, step), step)).toBe(Math.min(...ways));
    }
  });

  it('keep the order of rows of one length, and are none without rows', () => {
    const rows = ['b', 'a', 'c'];
    expect(batched(rows, () => 5, { batch: 1, token: 0 })).toEqual([rows]);
    expect(groups([], 1)).toEqual([]);
  });
});
