import { ShutdownSteps } from '../../../src/bootstrap/shutdown-steps.js';

const LONG = 60_000;

describe('the end of all that was begun', () => {
  it('goes from the latest to the first, each with the time that it may take', async () => {
    const ending = new ShutdownSteps();
    const ended: [string, number][] = [];
    const note = (what: string) => async (graceMs: number) => {
      ended.push([what, graceMs]);
    };
    ending.add('database', note('database'));
    ending.add('calls', note('calls'), 5);
    expect(await ending.within(LONG)).toEqual([]);
    expect(ended).toEqual([
      ['calls', 5],
      ['database', expect.any(Number)],
    ]);
    expect(ended[1]?.[1]).toBeLessThanOrEqual(LONG);
  });

  it('tells what did not end in time', async () => {
    const ending = new ShutdownSteps();
    ending.add('database', async () => undefined);
    ending.add('models', () => new Promise(() => undefined));
    ending.add('calls', async () => undefined);
    expect(await ending.within(50)).toEqual(['models', 'database']);
  });

  it('ends what comes while something else ends, and each once', async () => {
    const ending = new ShutdownSteps();
    const pool = jest.fn(async () => undefined);
    const calls = jest
      .fn<Promise<unknown>, []>(async () => undefined)
      .mockImplementationOnce(async () => ending.add('pool', pool));
    const database = jest.fn(async () => undefined);
    ending.add('database', database);
    ending.add('calls', calls);
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
    const ending = new ShutdownSteps();
    const database = jest.fn(async () => undefined);
    ending.add('database', database);
    ending.add('calls', end);
    await expect(ending.within(LONG)).rejects.toThrow('no');
    expect(database).toHaveBeenCalled();
  });
});
