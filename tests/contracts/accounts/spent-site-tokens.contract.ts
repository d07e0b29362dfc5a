import { race } from '../../support/barrier.js';
import { at, unique } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function spentSiteTokensContract(adapter: string, store: StoreUnderTest) {
  describe(`SpentSiteTokenRepository of ${adapter}`, () => {
    let repositories: Repositories;
    let spent: Repositories['spentSiteTokens'];
    beforeEach(async () => {
      repositories = await store.open();
      spent = repositories.spentSiteTokens;
    });

    it('accepts a token once on all instances together, and no expired token', async () => {
      const elsewhere = (await store.elsewhere()).spentSiteTokens;
      expect(await spent.spend('one', at(60), at(0))).toBe(true);
      for (const now of [0, 1, 59.999, 60, 61])
        for (const instance of [spent, elsewhere]) expect(await instance.spend('one', at(60), at(now))).toBe(false);
      expect(await spent.spend('expired', at(60), at(60))).toBe(false);
    });

    it('forgets expired tokens, and no others', async () => {
      expect(await spent.spend('short', at(60), at(0))).toBe(true);
      expect(await spent.spend('long', at(120), at(0))).toBe(true);
      expect(await spent.spend('short', at(120), at(59.999))).toBe(false);
      expect(await spent.spend('short', at(120), at(60))).toBe(true);
      expect(await spent.spend('long', at(120), at(60))).toBe(false);
    });

    it.each(['outside of', 'inside'])(
      'accepts a token from one of several concurrent callers, %s units of work',
      async (where) => {
        for (const id of ['old', 'older']) await spent.spend(id, at(60), at(0)); // every caller tries to remove these
        const id = unique();
        const outcomes = await race(
          8,
          () => repositories.accounts.count(),
          () => spent.spend(id, at(120), at(60)),
          where === 'inside' ? (steps) => repositories.unitOfWork.run(steps) : undefined,
        );
        expect(outcomes.filter(Boolean)).toHaveLength(1);
      },
    );
  });
}
