import type { Sharing } from '../../../src/application/shared/ports.js';
import { StorageUnavailable } from '../../../src/domain/operations/errors.js';
import { AsyncRequestContext } from '../../../src/infrastructure/system/async-current-request.js';

export interface SharingSetting {
  readonly sharing: Sharing;
  /** Does the work of a caller who waits no longer for storage than so many milliseconds. */
  readonly asCaller: <T>(ms: number, work: () => Promise<T>) => Promise<T>;
  /** How long whoever asks may wait for storage. */
  readonly mayWait: () => number;
}

export function sharingContract(adapter: string, { sharing, asCaller, mayWait }: SharingSetting) {
  describe(`Sharing of ${adapter}`, () => {
    it('begins work for many that carries nothing of who begins it, also after an await', async () => {
      const request = new AsyncRequestContext();
      const seen: unknown[] = [];
      const work = async (done: () => void) => {
        seen.push(request.id, mayWait());
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(request.id, mayWait());
        done();
      };
      const begun = () => new Promise<void>((resolve) => sharing.forMany(() => void work(resolve)));
      await asCaller(1_000, () => request.within('r1', begun));
      expect(seen).toEqual([null, mayWait(), null, mayWait()]);
    });

    it('tells a caller what the work comes to', async () => {
      const good = () => sharing.forOne((tell) => tell('done'));
      const bad = () => sharing.forOne((_, fail) => fail(new Error('no')));
      expect([await good(), await asCaller(60_000, good)]).toEqual(['done', 'done']);
      await expect(bad()).rejects.toThrow('no');
      await expect(asCaller(60_000, bad)).rejects.toThrow('no');
    });

    it('lets a caller wait no longer than it may, and the work go on', async () => {
      const ends: (() => void)[] = [];
      const waits = () => sharing.forOne((tell) => ends.push(() => tell('done')));
      const long = [waits(), asCaller(60_000, waits)];
      await expect(asCaller(1, waits)).rejects.toBeInstanceOf(StorageUnavailable);
      for (const end of ends) end();
      expect(await Promise.all(long)).toEqual(['done', 'done']);
    });
  });
}
