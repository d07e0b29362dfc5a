import type { StorageProbe } from '../../../src/application/operations/ports.js';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { atOnce } from '../../support/barrier.js';
import { within } from '../../support/until.js';

/** What may be wrong with a database. */
export interface Trouble {
  begin(): void;
  end(): void;
}

export interface StorageUnderTest {
  readonly storage: StorageProbe;
  readonly troubles: Readonly<Record<string, Trouble>>;
}

const SECONDS = 8;

/** `troubles`: the names of those that `open` gives. */
export function storageContract(adapter: string, troubles: readonly string[], open: () => Promise<StorageUnderTest>) {
  describe(`StorageProbe of ${adapter}`, () => {
    it('is there when the database answers and its migrations are done', async () => {
      const { storage } = await open();
      await expect(storage.check()).resolves.toBeUndefined();
    });

    it.each(troubles)('says within seconds that the database is not there, and that it is again: %s', async (name) => {
      const { storage, troubles } = await open();
      const trouble = troubles[name] as Trouble;
      // More at once than there can be connections: none of them may be lost by it.
      const checks = () => atOnce(20, () => storage.check().catch((error: unknown) => error));
      expect(new Set(await checks())).toEqual(new Set([undefined]));
      trouble.begin();
      let outcomes: unknown[] = [];
      const checked = async () => {
        outcomes = await checks();
      };
      expect(await within(SECONDS * 1_000, checked)).toBe(true);
      expect(outcomes).toHaveLength(20);
      for (const outcome of outcomes) expect(outcome).toBeInstanceOf(StorageUnavailable);
      trouble.end();
      await expect(storage.check()).resolves.toBeUndefined();
    });
  });
}
