import type { AccountChange } from '../../../src/application/accounts/ports.js';
import type { Account, Team } from '../../../src/domain/accounts/account.js';
import { EmailTaken } from '../../../src/domain/accounts/errors.js';
import { atOnce, race } from '../../support/barrier.js';
import {
  aConversation,
  aMailedToken,
  anAccount,
  anApiKey,
  aProject,
  aSession,
  aTeam,
  aTurn,
  at,
  ids,
} from '../../support/records.js';
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

    const add = async (over: Partial<Account> = {}): Promise<Account> => {
      const account = anAccount(team, over);
      await accounts.add(account);
      return account;
    };

    it('returns an account exactly as it was added', async () => {
      const overs: Partial<Account>[] = [
        { emailVerifiedAt: at(7.001), role: 'admin' },
        { passwordHash: null },
        { name: 'Åse "ثريا" 王秀英 O’Neill 🦆; DROP TABLE accounts' },
      ];
      for (const over of [{}, ...overs]) {
        const account = await add(over);
        expect(await accounts.byId(account.id)).toEqual(account);
        expect(await accounts.byEmail(account.email)).toEqual(account);
      }
      expect(await accounts.byId(ids.next('usr'))).toBeNull();
      expect(await accounts.byEmail('%@example.com')).toBeNull();
    });

    it('finds an account by any spelling of its e-mail, and keeps the stored spelling', async () => {
      const account = await add({ email: 'Ada.Müller@Example.COM' });
      for (const spelling of [
        'ada.müller@example.com',
        ' ADA.MÜLLER@EXAMPLE.COM ',
        'ada.mu\u0308ller@example.com', // u and a combining diaeresis
        'ａｄａ.müller@example.com', // full width
      ])
        expect(await accounts.byEmail(spelling)).toEqual(account);
      expect(await accounts.byEmail('ada.muller@example.com')).toBeNull();
    });

    it('refuses a second account with the same e-mail, and stores nothing of it', async () => {
      const account = await add({ email: 'ada@example.com' });
      const second = anAccount(team, { email: ' ADA@example.com' });
      await expect(accounts.add(second)).rejects.toThrow(EmailTaken);
      expect(await accounts.byId(second.id)).toBeNull();
      expect(await accounts.byEmail('ada@example.com')).toEqual(account);
    });

    it('lets a unit of work continue after `add` has refused an account', async () => {
      const { email } = await add();
      const other = anAccount(team);
      await unitOfWork.run(async () => {
        await expect(accounts.add(anAccount(team, { email }))).rejects.toThrow(EmailTaken);
        await accounts.add(other);
      });
      expect(await accounts.byId(other.id)).toEqual(other);
    });

    it.each(['outside of', 'inside'])(
      'adds one of several concurrent accounts with one e-mail, %s units of work',
      async (where) => {
        const emailOf = (party: number) => (party % 2 ? 'Ada@example.com' : 'ada@EXAMPLE.com');
        const outcomes = await race(
          8,
          (party) => accounts.byEmail(emailOf(party)),
          (_, party) => accounts.add(anAccount(team, { email: emailOf(party) })),
          (steps) => (where === 'inside' ? unitOfWork.run(steps) : steps()).catch((error) => error),
        );
        expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
        expect(outcomes.filter((outcome: unknown) => outcome instanceof EmailTaken)).toHaveLength(7);
        expect(await accounts.count()).toBe(1);
      },
    );

    it('changes the given fields of the given account only, and ignores an unknown account', async () => {
      const [account, other] = [await add(), await add()];
      const changes: AccountChange[] = [
        { name: 'Grace Hopper', alertEmails: true },
        { role: 'developer' },
        { passwordHash: 'another hash' },
        { emailVerifiedAt: at(1) },
      ];
      await atOnce(changes.length, (nth) => accounts.change(account.id, changes[nth] as AccountChange));
      expect(await accounts.byId(account.id)).toEqual(Object.assign({}, account, ...changes));
      expect(await accounts.byId(other.id)).toEqual(other);
      await accounts.change(anAccount(team).id, { name: 'Nobody' });
      expect(await accounts.count()).toBe(2);
    });

    it('lists the accounts of a team, and its accounts that ask for alerts by e-mail, oldest first', async () => {
      const other = aTeam();
      await teams.add(other);
      const [first, second, third] = [anAccount(team), anAccount(team), anAccount(team, { role: 'admin' })];
      const elsewhere = anAccount(other);
      for (const account of [second, third, elsewhere, first]) await accounts.add(account);
      await accounts.change(first.id, { name: 'Grace' });
      expect(await accounts.ofTeam(team.id)).toEqual([{ ...first, name: 'Grace' }, second, third]);
      expect(await accounts.ofTeam(ids.next('tea'))).toEqual([]);
      const asking = [second, third].map((account) => ({ ...account, alertEmails: true }));
      for (const { id } of [...asking, elsewhere]) await accounts.change(id, { alertEmails: true });
      expect(await accounts.wantingAlerts(team.id)).toEqual(asking);
      expect(await accounts.wantingAlerts(ids.next('tea'))).toEqual([]);
    });

    it('counts and lists the accounts of all teams, oldest first, in pages', async () => {
      const other = aTeam();
      await teams.add(other);
      const [first, second, third] = [await add(), anAccount(other), await add()];
      await accounts.add(second);
      const sorted = [first, second, third].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(await accounts.count()).toBe(3);
      expect(await accounts.all({ limit: 9, after: null })).toEqual(sorted);
      expect(await accounts.all({ limit: 1, after: sorted[0]?.id ?? '' })).toEqual([sorted[1]]);
      expect(await accounts.all({ limit: 9, after: sorted[2]?.id ?? '' })).toEqual([]);
    });

    it('removes an account with everything that belongs to it, on every instance at once', async () => {
      const { credentials, mailedTokens, projects, conversations } = repositories;
      const project = aProject(team);
      await projects.add(project);
      const addAccountWithAll = async () => {
        const account = await add();
        const [session, key, token] = [aSession(account), anApiKey(account), aMailedToken(account)];
        const conversation = aConversation(project, account);
        for (const credential of [session, key]) await credentials.add(credential);
        await mailedTokens.add(token);
        await conversations.add(conversation, aTurn());
        const left = async (on: Repositories) => [
          await on.accounts.byId(account.id),
          await on.accounts.byEmail(account.email),
          await on.credentials.holder(session.digest, at(1)),
          await on.credentials.holder(key.digest, at(1)),
          await on.mailedTokens.byDigest(token.digest),
          await on.conversations.find(conversation),
          (await on.conversations.messages(conversation.id, { limit: 1, before: null }))[0] ?? null,
        ];
        return { account, left };
      };
      const [gone, other] = [await addAccountWithAll(), await addAccountWithAll()];
      await accounts.remove(gone.account.id);
      for (const instance of [repositories, await store.elsewhere()]) {
        expect(await gone.left(instance)).toEqual(Array(7).fill(null));
        expect(await other.left(instance)).not.toContain(null);
        expect(await instance.accounts.ofTeam(team.id)).toEqual([other.account]);
      }
    });
  });
}
