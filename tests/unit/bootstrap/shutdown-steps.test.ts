import { ShutdownSteps } from '../../../src/bootstrap/shutdown-steps.js';

const LONG = 60_000;

describe('ShutdownSteps', () => {
  it('runs the steps from the last to the first, each with its time limit', async () => {
    const ending = new ShutdownSteps();
    const ended: [string, number][] = [];
    const note = (step: string) => async (graceMs: number) => {
      ended.push([step, graceMs]);
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

  it('returns the steps that did not end in time', async () => {
    const ending = new ShutdownSteps();
    ending.add('database', async () => undefined);
    ending.add('models', () => new Promise(() => undefined));
    ending.add('calls', async () => undefined);
    expect(await ending.within(50)).toEqual(['models', 'database']);
  });

  it('also runs steps that are added during the shutdown, each step once', async () => {
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
    ['rejects', fails],
    ['throws', throws],
  ])('runs all other steps and then fails if a step %s', async (_, end) => {
    const ending = new ShutdownSteps();
    const database = jest.fn(async () => undefined);
    ending.add('database', database);
    ending.add('calls', end);
    await expect(ending.within(LONG)).rejects.toThrow('no');
    expect(database).toHaveBeenCalled();
  });
});
