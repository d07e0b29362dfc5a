import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from '../../../src/domain/accounts/account.js';
import { StorageUnavailable } from '../../../src/domain/operations/errors.js';
import { MemoryStore } from '../../../src/infrastructure/memory/memory-store.js';
import { memoryRepositories, memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { anAccount, aTeam } from '../../support/records.js';
import { addedUnderCap, adminsLeft, countedUp, unitOfWorkContract } from './unit-of-work.contract.js';

unitOfWorkContract('memory', memoryUnderTest());
unitOfWorkContract('PostgreSQL', postgresUnderTest());

describe('UnitOfWork of PostgreSQL', () => {
  const serializable = postgresUnderTest();

  it('gives up on a unit that loses every time', async () => {
    const { unitOfWork, teams, accounts } = await serializable.open();
    const elsewhere = await serializable.elsewhere();
    const team = aTeam();
    const account = anAccount(team);
    await teams.add(team);
    await accounts.add(account);
    let attempts = 0;
    const loses = unitOfWork.run(async () => {
      const read = (await accounts.byId(account.id)) as Account;
      await elsewhere.accounts.save({ ...read, name: `changed ${++attempts} times` });
      await accounts.save({ ...read, name: 'never' });
    });
    await expect(loses).rejects.toThrow(StorageUnavailable);
    expect((await accounts.byId(account.id))?.name).toBe(`changed ${attempts} times`);
  });
});

/** The suite is worth its name only if a weaker isolation fails it. */
describe('read committed, which is no UnitOfWork', () => {
  const weaker = postgresUnderTest('READ COMMITTED');

  it('loses updates', async () => {
    expect(await countedUp(await weaker.open(), 6)).toBe(1);
  });

  it('lets both act that rely on each other', async () => {
    expect(await adminsLeft(await weaker.open())).toBe(0);
  });

  it('lets all add that have counted none', async () => {
    expect(await addedUnderCap(await weaker.open(), 6)).toBe(6);
  });
});

describe('MemoryStore', () => {
  it('refuses what a unit left running when it ended', async () => {
    const store = new MemoryStore();
    const { accounts } = memoryRepositories(store);
    const account = anAccount(aTeam());
    let left: Promise<void> = Promise.resolve();
    await store.run(async () => {
      left = pause(5).then(() => accounts.add(account));
    });
    await expect(left).rejects.toThrow('is over');
    expect(await accounts.count()).toBe(0);
  });
});
