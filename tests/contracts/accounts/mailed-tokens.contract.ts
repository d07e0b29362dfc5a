import type { Account } from '../../../src/domain/accounts/account.js';
import { MailedToken } from '../../../src/domain/accounts/mailed-token.js';
import { aMailedToken, at } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

export function mailedTokensContract(adapter: string, store: StoreUnderTest) {
  describe(`MailedTokenRepository of ${adapter}`, () => {
    let mailedTokens: StockedStore['mailedTokens'];
    let account: Account;
    let other: Account;
    beforeEach(async () => {
      ({ mailedTokens, account, colleague: other } = await stocked(store));
    });

    const add = async (purpose?: MailedToken['purpose'], owner = account): Promise<MailedToken> => {
      const token = aMailedToken(owner, purpose);
      await mailedTokens.add(token);
      return token;
    };

    it('returns a token exactly as it was added, by its digest', async () => {
      const [first, second] = [await add('verification'), await add('reset')];
      expect(await mailedTokens.byDigest(first.digest)).toEqual(first);
      expect(await mailedTokens.byDigest(second.digest)).toEqual(second);
    });

    it('counts the tokens of an account and purpose that were made after a moment', async () => {
      await add('reset');
      await add('reset');
      await add('verification');
      await add('reset', other);
      expect(await mailedTokens.countSince(account.id, 'reset', at(-1))).toBe(2);
      expect(await mailedTokens.countSince(account.id, 'verification', at(-1))).toBe(1);
      expect(await mailedTokens.countSince(account.id, 'reset', at(0))).toBe(0);
    });

    it('saves changes of the given token only, and ignores an unknown token', async () => {
      const [first, second] = [await add(), await add()];
      const used = MailedToken.use(first, at(3.5));
      await mailedTokens.save(used);
      expect(await mailedTokens.byDigest(first.digest)).toEqual(used);
      expect(await mailedTokens.byDigest(second.digest)).toEqual(second);
      const unknown = aMailedToken(account);
      await mailedTokens.save(unknown);
      expect(await mailedTokens.byDigest(unknown.digest)).toBeNull();
    });

    it.each(['verification', 'reset'] as const)(
      'removes the unused tokens of an account for one purpose: %s',
      async (purpose) => {
        const [first, second] = [await add(purpose), await add(purpose)];
        const used = MailedToken.use(await add(purpose), at(1));
        await mailedTokens.save(used);
        const stay = [used, await add(purpose === 'reset' ? 'verification' : 'reset'), await add(purpose, other)];
        await mailedTokens.removeUnused(account.id, purpose);
        for (const { digest } of [first, second]) expect(await mailedTokens.byDigest(digest)).toBeNull();
        for (const one of stay) expect(await mailedTokens.byDigest(one.digest)).toEqual(one);
      },
    );
  });
}
