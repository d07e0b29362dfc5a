import { Batches } from '../../../../src/application/shared/batches.js';

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
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { batches, worked, release };
  };

  it('begins at once, and works on what comes meanwhile together', async () => {
    const { batches, worked, release } = setUp();
    const results = [1, 2, 3].map((item) => batches.add(item));
    expect(worked).toEqual([[1]]);
    await release();
    expect(worked).toEqual([[1], [2, 3]]);
    await release();
    expect(await Promise.all(results)).toEqual([2, 4, 6]);
    const later = batches.add(4);
    await release();
    expect(await later).toBe(8);
  });

  it('gives each item its own outcome, and all of them, and those that wait, the failure of the whole', async () => {
    const { batches, release } = setUp();
    const first = batches.add(1);
    const [good, bad] = [batches.add(2), batches.add(-3)];
    const refused = expect(bad).rejects.toThrow('not -3');
    await release();
    await release();
    expect(await first).toBe(2);
    expect(await good).toBe(4);
    await refused;
    const doomed = [batches.add(666), batches.add(5)];
    const failed = Promise.all(doomed.map((one) => expect(one).rejects.toThrow('all of it fails')));
    await release();
    await failed;
    const next = batches.add(6);
    await release();
    expect(await next).toBe(12);
  });

  it('bounds a batch', async () => {
    const { batches, worked, release } = setUp(2);
    const results = [1, 2, 3, 4, 5].map((item) => batches.add(item));
    for (const _ of [1, 2, 3]) await release();
    expect(worked).toEqual([[1], [2, 3], [4, 5]]);
    expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10]);
  });
});
