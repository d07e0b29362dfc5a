import { Ending } from '../../../src/bootstrap/ending.js';

const LONG = 60_000;

describe('the end of all that was begun', () => {
  it('goes from the latest to the first, each with the time that it may take', async () => {
    const ending = new Ending();
    const ended: [string, number][] = [];
    const note = (what: string) => async (graceMs: number) => {
      ended.push([what, graceMs]);
    };
    ending.later('database', note('database'));
    ending.later('calls', note('calls'), 5);
    expect(await ending.within(LONG)).toEqual([]);
    expect(ended).toEqual([
      ['calls', 5],
      ['database', expect.any(Number)],
    ]);
    expect(ended[1]?.[1]).toBeLessThanOrEqual(LONG);
  });

  it('tells what did not end in time', async () => {
    const ending = new Ending();
    ending.later('database', async () => undefined);
    ending.later('models', () => new Promise(() => undefined));
    ending.later('calls', async () => undefined);
    expect(await ending.within(50)).toEqual(['models', 'database']);
  });

  it('ends what comes while something else ends, and each once', async () => {
    const ending = new Ending();
    const pool = jest.fn(async () => undefined);
    const calls = jest
      .fn<Promise<unknown>, []>(async () => undefined)
      .mockImplementationOnce(async () => ending.later('pool', pool));
    const database = jest.fn(async () => undefined);
    ending.later('database', database);
    ending.later('calls', calls);
    expect(await ending.within(LONG)).toEqual([]);
    for (const end of [calls, pool, database]) expect(end).toHaveBeenCalledTimes(1);
    expect(pool.mock.invocationCallOrder[0]).toBeLessThan(database.mock.invocationCallOrder[0] as number);
  });

  const no = new Error('no');
  const fails = () => Promise.reject(no);
  const throws = () => {
    throw no;
  };
  it.each([
    ['fails', fails],
    ['fails at once', throws],
  ])('is not kept up by a part that %s, and fails with it', async (_, end) => {
    const ending = new Ending();
    const database = jest.fn(async () => undefined);
    ending.later('database', database);
    ending.later('calls', end);
    await expect(ending.within(LONG)).rejects.toThrow('no');
    expect(database).toHaveBeenCalled();
  });
});
