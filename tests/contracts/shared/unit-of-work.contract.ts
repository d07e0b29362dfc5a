import type { Account, Team } from '../../../src/domain/accounts/account.js';
import { atOnce, barrier, race } from '../../support/barrier.js';
import { aCall, anAccount, anInvite, aProject, aSession, aTeam, at, ended } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

/** Runs units of work that read a counter at the same time. Each then adds one to what it read. Returns the counter. */
export async function countedUp({ unitOfWork, teams, accounts }: Repositories): Promise<number> {
  const team = aTeam();
  const counter = anAccount(team, { name: '0' });
  await teams.add(team);
  await accounts.add(counter);
  const read = async () => (await accounts.byId(counter.id)) as Account;
  const countUp = ({ id, name }: Account) => accounts.change(id, { name: String(Number(name) + 1) });
  await race(6, read, countUp, (steps) => unitOfWork.run(steps));
  return Number((await read()).name);
}

/**
 * Runs units of work that count the accounts at the same time and then each add one if there is none. Returns the
 * number of accounts at the end.
 */
export async function addedUnderCap({ unitOfWork, teams, accounts }: Repositories): Promise<number> {
  const team = aTeam();
  await teams.add(team);
  const add = async (count: number) => {
    if (count === 0) await accounts.add(anAccount(team));
  };
  await race(
    6,
    () => accounts.count(),
    add,
    (steps) => unitOfWork.run(steps),
  );
  return accounts.count();
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

    it('commits all writes and returns the result of the work', async () => {
      const account = anAccount(team);
      await expect(unitOfWork.run(() => addsBoth(account).then(() => 'done'))).resolves.toBe('done');
      expect(await accounts.byId(account.id)).toEqual(account);
      expect(await teams.byId(another.id)).toEqual(another);
    });

    it('commits nothing when the work throws, and throws the same error', async () => {
      const account = anAccount(team);
      const work = async () => {
        await addsBoth(account);
        throw failure;
      };
      await expect(unitOfWork.run(work)).rejects.toBe(failure);
      expect(await accounts.byId(account.id)).toBeNull();
      expect(await teams.byId(another.id)).toBeNull();
    });

    it('shows its writes to its own work at once, and to others only after the commit', async () => {
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

    it('keeps concurrent units of work apart', async () => {
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

    it('joins a nested unit of work, which sees the writes of the outer one and is rolled back with it', async () => {
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

    it('has the frequent statements of all repositories, too', async () => {
      const { credentials, invites, connections, projects, jobHistory, jobs } = repositories;
      const [account, project, call] = [anAccount(team), aProject(team), ended(aCall())];
      const [session, invite] = [aSession(account), anInvite(team)];
      const work = async () => {
        await accounts.add(account);
        await credentials.add(session);
        await invites.add(invite);
        await projects.add(project);
        await jobHistory.append(call, true);
        expect(await credentials.holder(session.digest, at(0))).toMatchObject({ accountId: account.id });
        expect(await credentials.holdersById([session.id], at(0))).toMatchObject([{ accountId: account.id }]);
        expect(await invites.countPending(team.id, at(0))).toBe(1);
        expect(await connections.ofProject(team.id, project.id)).not.toBeNull();
        expect(await connections.ofModel(team.id, project.name)).not.toBeNull();
        throw failure;
      };
      await expect(unitOfWork.run(work)).rejects.toBe(failure);
      expect(await jobs.find(call.id)).toBeNull();
    });

    it('loses no update when several units of work read the same state', async () => {
      expect(await countedUp(repositories)).toBe(6);
    });

    it('runs units of work of one queue one after another, so that none must run again', async () => {
      const counter = anAccount(team, { name: '0' });
      await accounts.add(counter);
      let begun = 0;
      await atOnce(24, () =>
        unitOfWork
          .run(async () => {
            begun++;
            const { name } = (await accounts.byId(counter.id)) as Account;
            await accounts.change(counter.id, { name: String(Number(name) + 1) });
            if (begun % 4 === 0) throw failure;
          }, 'counting')
          .catch((error) => expect(error).toBe(failure)),
      );
      expect((await accounts.byId(counter.id))?.name).toBe('18');
      expect(begun).toBe(24);
    });

    it('lets only one unit of work add an account when all of them counted none', async () => {
      expect(await addedUnderCap(repositories)).toBe(1);
    });
  });
}
