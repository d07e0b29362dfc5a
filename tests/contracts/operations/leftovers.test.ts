import { ExpiredDataService } from '../../../src/application/operations/expired-data.service.js';
import { TypeOrmExpiredData } from '../../../src/infrastructure/typeorm/operations/operations.js';
import type { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryStore } from '../../fakes/memory-store.js';
import { MemoryExpiredData } from '../../fakes/operations/memory-expired-data.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { memoryRepositories } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import { anAccount, aSession, aTeam, at } from '../../support/records.js';
import { leftoversContract } from './leftovers.contract.js';

leftoversContract('memory', async () => {
  const store = new MemoryStore();
  return { leftovers: new MemoryExpiredData(store), repositories: memoryRepositories(store) };
});

describe('on a database', () => {
  const postgres = postgresUnderTest();
  leftoversContract('PostgreSQL', async () => {
    const repositories = await postgres.open();
    return { leftovers: new TypeOrmExpiredData(repositories.unitOfWork as TypeOrmUnitOfWork), repositories };
  });
});

describe('ExpiredDataService', () => {
  it('works through more than one step takes, and leaves what ended within the last day', async () => {
    const store = new MemoryStore();
    const repositories = memoryRepositories(store);
    const team = aTeam();
    const account = anAccount(team);
    await repositories.teams.add(team);
    await repositories.accounts.add(account);
    for (let n = 0; n < 1_001; n++) await repositories.credentials.add(aSession(account, { expiresAt: at(0) }));
    await repositories.credentials.add(aSession(account, { expiresAt: at(2) }));
    const clock = new ManualClock(new Date(at(1).getTime() + 24 * 60 * 60 * 1000));
    const log = new RecordingLog();
    await new ExpiredDataService(new MemoryExpiredData(store), clock, log).remove();
    const sessions = { accountId: account.id, kind: 'session', now: new Date(0) } as const;
    expect(await repositories.credentials.list(sessions)).toHaveLength(1);
    expect(JSON.stringify(log)).toContain('1001');
  });
});
