import type { Account, Team } from '../../../src/domain/accounts/account.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { anAccount, aTeam } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

/** Each of `parties` units reads a counter and, when all have read, writes one more. Answers the counter at the end. */
export async function countedUp({ unitOfWork, teams, accounts }: Repositories, parties: number): Promise<number> {
  const { id } = await added(teams, accounts, { name: '0' });
  const allHaveRead = barrier(parties);
  await atOnce(parties, () =>
    unitOfWork.run(async () => {
      const account = (await accounts.byId(id)) as Account;
      await allHaveRead();
      await accounts.save({ ...account, name: String(Number(account.name) + 1) });
    }),
  );
  return Number((await accounts.byId(id))?.name);
}

/** `parties` units count the accounts and, when all have counted, each adds one where there is none. Answers how many there are. */
export async function addedUnderCap({ unitOfWork, teams, accounts }: Repositories, parties: number): Promise<number> {
  const team = aTeam();
  await teams.add(team);
  const allHaveCounted = barrier(parties);
  await atOnce(parties, () =>
    unitOfWork.run(async () => {
      const count = await accounts.count();
      await allHaveCounted();
      if (count === 0) await accounts.add(anAccount(team));
    }),
  );
  return accounts.count();
}

async function added(teams: Repositories['teams'], accounts: Repositories['accounts'], over: Partial<Account>) {
  const team = aTeam();
  const account = anAccount(team, over);
  await teams.add(team);
  await accounts.add(account);
  return account;
}

export function unitOfWorkContract(adapter: string, store: StoreUnderTest) {
  describe(`UnitOfWork of ${adapter}`, () => {
    let repositories: Repositories;
    let unitOfWork: Repositories['unitOfWork'];
    let accounts: Repositories['accounts'];
    let teams: Repositories['teams'];
    let team: Team;
    const failure = new Error('no');

    beforeEach(async () => {
      repositories = await store.open();
      ({ unitOfWork, accounts, teams } = repositories);
      team = aTeam();
      await teams.add(team);
    });

    const another = aTeam();
    const addsBoth = async (account: Account) => {
      await accounts.add(account);
      await teams.add(another);
    };

    it('commits all that was done, and answers what the work answers', async () => {
      const account = anAccount(team);
      await expect(unitOfWork.run(() => addsBoth(account).then(() => 'done'))).resolves.toBe('done');
      expect(await accounts.byId(account.id)).toEqual(account);
      expect(await teams.byId(another.id)).toEqual(another);
    });

    it('commits nothing when the work throws, and throws the very same', async () => {
      const account = anAccount(team);
      const work = async () => {
        await addsBoth(account);
        throw failure;
      };
      await expect(unitOfWork.run(work)).rejects.toBe(failure);
      expect(await accounts.byId(account.id)).toBeNull();
      expect(await teams.byId(another.id)).toBeNull();
    });

    it('shows a unit what it has done itself, and others nothing of it before it commits', async () => {
      const account = anAccount(team);
      const [written, looked] = [barrier(2), barrier(2)];
      const outsider = async () => {
        await written();
        const seen = await accounts.byId(account.id);
        await looked();
        return seen;
      };
      const insider = () =>
        unitOfWork.run(async () => {
          await accounts.add(account);
          await written();
          await looked();
          return accounts.byId(account.id);
        });
      expect(await Promise.all([outsider(), insider()])).toEqual([null, account]);
    });

    it('keeps units that run side by side apart', async () => {
      const [kept, dropped] = [anAccount(team), anAccount(team)];
      const bothHaveAdded = barrier(2);
      const adds = (account: Account, fails: boolean) => async () => {
        await accounts.add(account);
        await bothHaveAdded();
        if (fails) throw failure;
      };
      const outcomes = await Promise.allSettled([
        unitOfWork.run(adds(kept, false)),
        unitOfWork.run(adds(dropped, true)),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      expect(await accounts.byId(kept.id)).toEqual(kept);
      expect(await accounts.byId(dropped.id)).toBeNull();
    });

    it('joins a unit inside a unit: it sees what the outer one did, and is undone with it', async () => {
      const [outer, inner] = [anAccount(team), anAccount(team)];
      const work = async () => {
        await accounts.add(outer);
        const seen = await unitOfWork.run(async () => {
          await accounts.add(inner);
          return accounts.byId(outer.id);
        });
        expect(seen).toEqual(outer);
        throw failure;
      };
      await expect(unitOfWork.run(work)).rejects.toBe(failure);
      expect(await accounts.count()).toBe(0);
    });

    it('loses no update of units that have all read the same', async () => {
      expect(await countedUp(repositories, 6)).toBe(6);
    });

    it('lets only one of the units add that have all counted none', async () => {
      expect(await addedUnderCap(repositories, 6)).toBe(1);
    });
  });
}
