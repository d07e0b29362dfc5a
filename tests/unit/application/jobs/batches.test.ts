import { Batches } from '../../../../src/application/shared/batches.js';
import { turn } from '../../../../src/application/shared/turn.js';

describe('batches', () => {
  const setUp = (most = 10) => {
    const worked: number[][] = [];
    let goOn: (() => void)[] = [];
    const batches = new Batches(most, async (items: readonly number[]) => {
      worked.push([...items]);
      await new Promise<void>((resolve) => goOn.push(resolve));
      if (items.includes(666)) throw new Error('all of it fails');
      return items.map((item) => (item < 0 ? { error: new Error(`not ${item}`) } : { result: item * 2 }));
    });
    const release = async () => {
      for (const one of goOn) one();
      goOn = [];
      await turn();
    };
    return { batches, worked, release };
  };

  it('works on what comes in one turn together, and on what comes meanwhile', async () => {
    const { batches, worked, release } = setUp();
    const results = [1, 2].map((item) => batches.add(item));
    await turn();
    expect(worked).toEqual([[1, 2]]);
    results.push(...[3, 4].map((item) => batches.add(item)));
    await turn();
    expect(worked).toEqual([[1, 2]]);
    await release();
    expect(worked).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await release();
    expect(await Promise.all(results)).toEqual([2, 4, 6, 8]);
    const later = batches.add(5);
    await turn();
    await release();
    expect(await later).toBe(10);
  });

  it('gives each item its own outcome, and all of them, and those that wait, the failure of the whole', async () => {
    const { batches, release } = setUp();
    const [good, bad] = [batches.add(2), batches.add(-3)];
    const refused = expect(bad).rejects.toThrow('not -3');
    await turn();
    await release();
    expect(await good).toBe(4);
    await refused;
    const failed = [expect(batches.add(666)).rejects.toThrow('all of it fails')];
    await turn();
    failed.push(expect(batches.add(5)).rejects.toThrow('all of it fails'));
    await release();
    await Promise.all(failed);
    const next = batches.add(6);
    await turn();
    await release();
    expect(await next).toBe(12);
  });

  it('bounds a batch', async () => {
    const { batches, worked, release } = setUp(2);
    const results = [1, 2, 3, 4, 5].map((item) => batches.add(item));
    await turn();
    for (const _ of [1, 2, 3]) await release();
    expect(worked).toEqual([[1, 2], [3, 4], [5]]);
    expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10]);
  });
});
