import { Batches } from '../../../../src/application/shared/batches.js';
import { turn } from '../../../../src/application/shared/turn.js';
import { StorageUnavailable } from '../../../../src/domain/operations/errors.js';
import { Patience } from '../../../../src/infrastructure/typeorm/patience.js';
import { PatientSharing } from '../../../../src/infrastructure/typeorm/patient-sharing.js';
import { asCaller } from '../../../support/patience.js';

describe('batches', () => {
  const setUp = (most = 10) => {
    const worked: number[][] = [];
    let goOn: (() => void)[] = [];
    const waits: number[] = [];
    const batches = new Batches(new PatientSharing(), most, async (items: readonly number[]) => {
      worked.push([...items]);
      waits.push(Patience.wait(60_000).ms);
      await new Promise<void>((resolve) => goOn.push(resolve));
      if (items.includes(666)) throw new Error('all of it fails');
      return items.map((item) => (item < 0 ? { error: new Error(`not ${item}`) } : { result: item * 2 }));
    });
    const release = async () => {
      for (const one of goOn) one();
      goOn = [];
      await turn();
    };
    return { batches, worked, waits, release };
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

  it('bounds each caller by its own patience, and the batch by nobody’s', async () => {
    const { batches, worked, waits, release } = setUp();
    const spent = expect(asCaller(1, () => batches.add(1)).done).rejects.toBeInstanceOf(StorageUnavailable);
    const others = [asCaller(60_000, () => batches.add(2)).done, batches.add(3)];
    await turn();
    others.push(batches.add(4));
    await spent;
    await release();
    await release();
    expect(await Promise.all(others)).toEqual([4, 6, 8]);
    expect(worked).toEqual([[1, 2, 3], [4]]);
    expect(waits).toEqual([60_000, 60_000]);
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
