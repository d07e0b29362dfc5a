import type { Account, Team } from '../../../src/domain/accounts/account.js';
import { EmailTaken } from '../../../src/domain/accounts/errors.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aMailedToken, anAccount, anApiKey, aSession, aTeam, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function accountsContract(adapter: string, store: StoreUnderTest) {
  describe(`AccountRepository of ${adapter}`, () => {
    let repositories: Repositories;
    let accounts: Repositories['accounts'];
    let unitOfWork: Repositories['unitOfWork'];
    let teams: Repositories['teams'];
    let team: Team;

    beforeEach(async () => {
      repositories = await store.open();
      ({ accounts, unitOfWork, teams } = repositories);
      team = aTeam();
      await teams.add(team);
    });

    const kept = async (over: Partial<Account> = {}): Promise<Account> => {
      const account = anAccount(team, over);
      await accounts.add(account);
      return account;
    };

    it.each<[string, Partial<Account>]>([
      ['new', {}],
      ['verified', { emailVerifiedAt: at(7.001), role: 'admin' }],
      ['without a password', { passwordHash: null }],
      ['with a name of many scripts', { name: 'Åse "ثريا" 王秀英 O’Neill 🦆; DROP TABLE accounts' }],
    ])('gives back exactly the account that was added: %s', async (_, over) => {
      const account = await kept(over);
      expect(await accounts.byId(account.id)).toEqual(account);
      expect(await accounts.byEmail(account.email)).toEqual(account);
      expect(await accounts.byId(ids.next('usr'))).toBeNull();
      expect(await accounts.byEmail('%@example.com')).toBeNull();
    });

    it('finds an account by any spelling of its e-mail, and keeps the one that was given', async () => {
      const account = await kept({ email: 'Ada.Müller@Example.COM' });
      for (const spelling of [
        'ada.müller@example.com',
        ' ADA.MÜLLER@EXAMPLE.COM ',
        'ada.mu\u0308ller@example.com', // u and a combining diaeresis
        'ａｄａ.müller@example.com', // full width
      ])
        expect(await accounts.byEmail(spelling)).toEqual(account);
      expect(await accounts.byEmail('ada.muller@example.com')).toBeNull();
    });

    it('refuses a second account with the same e-mail key, and keeps nothing of it', async () => {
      const account = await kept({ email: 'ada@example.com' });
      const second = anAccount(team, { email: ' ADA@example.com' });
      await expect(accounts.add(second)).rejects.toThrow(EmailTaken);
      expect(await accounts.byId(second.id)).toBeNull();
      expect(await accounts.byEmail('ada@example.com')).toEqual(account);
    });

    it('lets a unit of work go on after the refusal', async () => {
      const { email } = await kept();
      const other = anAccount(team);
      await unitOfWork.run(async () => {
        await expect(accounts.add(anAccount(team, { email }))).rejects.toThrow(EmailTaken);
        await accounts.add(other);
      });
      expect(await accounts.byId(other.id)).toEqual(other);
    });

    it.each(['outside of', 'inside'])(
      'adds one of many with the same e-mail at once, %s units of work',
      async (where) => {
        const parties = 8;
        const allHaveLooked = barrier(parties);
        const adds = async (party: number) => {
          const email = party % 2 ? 'Ada@example.com' : 'ada@EXAMPLE.com';
          await accounts.byEmail(email);
          await allHaveLooked();
          await accounts.add(anAccount(team, { email }));
          return 'added';
        };
        const outcomes = await atOnce(parties, (party) => {
          const added = where === 'inside' ? unitOfWork.run(() => adds(party)) : adds(party);
          return added.catch((error: unknown) => error);
        });
        expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome instanceof EmailTaken)).toHaveLength(parties - 1);
        expect(await accounts.count()).toBe(1);
      },
    );

    it('saves every change of an account, and of no other', async () => {
      const [account, other] = [await kept(), await kept()];
      const changed: Account = {
        ...account,
        name: 'Grace Hopper',
        email: 'grace@example.com',
        role: 'developer',
        passwordHash: 'another hash',
        emailVerifiedAt: at(1),
        alertEmails: true,
      };
      await accounts.save(changed);
      expect(await accounts.byId(account.id)).toEqual(changed);
      expect(await accounts.byEmail('grace@example.com')).toEqual(changed);
      expect(await accounts.byEmail(account.email)).toBeNull();
      expect(await accounts.byId(other.id)).toEqual(other);
    });

    it('saves another spelling of the same e-mail, and refuses that of somebody else', async () => {
      const [account, other] = [await kept({ email: 'ada@example.com' }), await kept()];
      const respelled = { ...account, email: 'Ada@example.com' };
      await accounts.save(respelled);
      await expect(accounts.save({ ...other, email: 'ADA@example.com' })).rejects.toThrow(EmailTaken);
      expect(await accounts.byId(account.id)).toEqual(respelled);
      expect(await accounts.byId(other.id)).toEqual(other);
    });

    it('makes no account by saving one that it does not know', async () => {
      await accounts.save(anAccount(team));
      expect(await accounts.count()).toBe(0);
    });

    it('lists the accounts of a team, and those of them that ask for alerts by e-mail, oldest first', async () => {
      const other = aTeam();
      await teams.add(other);
      const [first, second, third] = [anAccount(team), anAccount(team), anAccount(team, { role: 'admin' })];
      const elsewhere = anAccount(other);
      for (const account of [second, third, elsewhere, first]) await accounts.add(account);
      await accounts.save({ ...first, name: 'Grace' });
      expect(await accounts.ofTeam(team.id)).toEqual([{ ...first, name: 'Grace' }, second, third]);
      expect(await accounts.ofTeam(ids.next('tea'))).toEqual([]);
      const asking = [second, third].map((account) => ({ ...account, alertEmails: true }));
      for (const account of [...asking, { ...elsewhere, alertEmails: true }]) await accounts.save(account);
      expect(await accounts.wantingAlerts(team.id)).toEqual(asking);
      expect(await accounts.wantingAlerts(ids.next('tea'))).toEqual([]);
    });

    it('counts and lists those of every team, oldest first, a page at a time', async () => {
      const other = aTeam();
      await teams.add(other);
      const [first, second, third] = [await kept(), anAccount(other), await kept()];
      await accounts.add(second);
      const sorted = [first, second, third].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(await accounts.count()).toBe(3);
      expect(await accounts.all({ limit: 9, after: null })).toEqual(sorted);
      expect(await accounts.all({ limit: 1, after: sorted[0]?.id ?? '' })).toEqual([sorted[1]]);
      expect(await accounts.all({ limit: 9, after: sorted[2]?.id ?? '' })).toEqual([]);
    });

    describe('that are removed', () => {
      /** Gives the account a session, a key and a token of each purpose. Returns a function that counts those left. */
      const endowed = async (account: Account) => {
        const { credentials, mailedTokens } = repositories;
        const owned = [aSession(account), anApiKey(account)];
        const mailed = [aMailedToken(account, 'verification'), aMailedToken(account, 'reset')];
        for (const credential of owned) await credentials.add(credential);
        for (const token of mailed) await mailedTokens.add(token);
        return async (of: Repositories) => {
          const holders = await Promise.all(owned.map(({ digest }) => of.credentials.holder(digest, at(1))));
          const tokens = await Promise.all(mailed.map(({ digest }) => of.mailedTokens.byDigest(digest)));
          const keys = await of.credentials.list({ accountId: account.id, kind: 'api_key', now: at(1) });
          return [...holders, ...tokens, ...keys].filter(Boolean).length;
        };
      };

      it('are gone with their credentials and tokens, at once and in every process', async () => {
        const [account, other] = [await kept(), await kept()];
        const [left, others] = [await endowed(account), await endowed(other)];
        const elsewhere = await store.elsewhere();
        expect(await left(elsewhere)).toBe(5);
        await accounts.remove(account.id);
        for (const process of [repositories, elsewhere]) {
          expect(await process.accounts.byId(account.id)).toBeNull();
          expect(await process.accounts.byEmail(account.email)).toBeNull();
          expect(await process.accounts.ofTeam(team.id)).toEqual([other]);
          expect(await left(process)).toBe(0);
          expect(await others(process)).toBe(5);
        }
        expect(await accounts.count()).toBe(1);
      });
    });
  });
}
