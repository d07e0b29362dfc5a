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

  it('is not kept up by a part that fails, and fails with it', async () => {
    const ending = new Ending();
    const database = jest.fn(async () => undefined);
    ending.later('database', database);
    ending.later('calls', () => Promise.reject(new Error('no')));
    await expect(ending.within(LONG)).rejects.toThrow('no');
    expect(database).toHaveBeenCalled();
  });
});
