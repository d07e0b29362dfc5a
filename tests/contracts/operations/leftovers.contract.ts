import type { ExpiredData } from '../../../src/application/operations/ports.js';
import { atOnce } from '../../support/barrier.js';
import { aMailedToken, anAccount, anApiKey, aSession, aTeam, at } from '../../support/records.js';
import type { Repositories } from '../../support/repositories.js';

export interface LeftoversUnderTest {
  readonly leftovers: ExpiredData;
  readonly repositories: Repositories;
}

export function leftoversContract(adapter: string, open: () => Promise<LeftoversUnderTest>) {
  describe(`ExpiredData kept by ${adapter}`, () => {
    const kept = async () => {
      const { leftovers, repositories } = await open();
      const team = aTeam();
      const account = anAccount(team);
      await repositories.teams.add(team);
      await repositories.accounts.add(account);
      return { leftovers, repositories, account };
    };

    it('are credentials by their end; what has none stays', async () => {
      const { leftovers, repositories, account } = await kept();
      const ends = [at(3), at(1), at(2), at(9)].map((expiresAt) => aSession(account, { expiresAt }));
      const endless = anApiKey(account, { expiresAt: null });
      for (const one of [...ends, endless]) await repositories.credentials.add(one);
      expect(await leftovers.remove('credentials', at(3), 2)).toBe(2);
      const left = async (kind: 'session' | 'api_key') =>
        (await repositories.credentials.list({ accountId: account.id, kind, now: at(0) })).map(({ id }) => id).sort();
      expect(await left('session')).toEqual([ends[0]?.id, ends[3]?.id].sort());
      expect(await leftovers.remove('credentials', at(3), 2)).toBe(1);
      expect(await leftovers.remove('credentials', at(3), 2)).toBe(0);
      expect(await left('session')).toEqual([ends[3]?.id]);
      expect(await left('api_key')).toEqual([endless.id]);
    });

    it('are mailed tokens and site tokens by their end', async () => {
      const { leftovers, repositories, account } = await kept();
      const token = aMailedToken(account);
      await repositories.mailedTokens.add(token);
      expect(await leftovers.remove('mailed_tokens', new Date(token.expiresAt.getTime() - 1), 9)).toBe(0);
      expect(await leftovers.remove('mailed_tokens', token.expiresAt, 9)).toBe(1);
      expect(await repositories.mailedTokens.byDigest(token.digest)).toBeNull();
      await repositories.spentSiteTokens.spend('one', at(5), at(0));
      expect(await leftovers.remove('site_tokens', at(4), 9)).toBe(0);
      expect(await repositories.spentSiteTokens.spend('one', at(5), at(0))).toBe(false);
      expect(await leftovers.remove('site_tokens', at(5), 9)).toBe(1);
    });

    it('are no mails that wait', async () => {
      const { leftovers, repositories } = await kept();
      const to = { name: 'Ada', address: 'ada@example.com' };
      const message = { to, subject: 'Hello', text: 'Hello', html: 'Hello' };
      for (const id of ['msg_1', 'msg_2']) await repositories.outbox.add({ id, message, dueAt: at(0) });
      await repositories.outbox.delivered('msg_1', at(1));
      await leftovers.remove('mails', at(9), 9);
      expect(await leftovers.remove('mails', at(9), 9)).toBe(0);
      expect(await repositories.outbox.take(at(9), at(10))).toMatchObject({ id: 'msg_2' });
    });

    it('are removed once each, however many do it', async () => {
      const { leftovers, repositories, account } = await kept();
      for (let n = 0; n < 40; n++) await repositories.credentials.add(aSession(account, { expiresAt: at(1) }));
      const removed = await atOnce(4, async () => {
        let sum = 0;
        for (let n = 0; n < 4; n++) sum += await leftovers.remove('credentials', at(1), 10);
        return sum;
      });
      const rest = await leftovers.remove('credentials', at(1), 100);
      expect(removed.reduce((a, b) => a + b, rest)).toBe(40);
    });
  });
}
