import { once } from 'node:events';
import { Teams } from '../../src/application/accounts/ports/teams.js';
import { RegisterAccount } from '../../src/application/accounts/register-account.js';
import { UnitOfWork } from '../../src/application/shared/ports/unit-of-work.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { Parts } from '../../src/bootstrap/container.js';
import type { Team } from '../../src/domain/accounts/account.js';
import { MemoryLog } from '../../src/infrastructure/memory/shared/memory-log.js';
import { TypeOrmTeams } from '../../src/infrastructure/typeorm/accounts/typeorm-teams.js';
import { createDataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';

/** Registers the account it is asked for, and waits after it has looked whether there is a team until it hears "go". */
class PausingTeams extends TypeOrmTeams {
  private paused = false;

  override async operator(): Promise<Team | null> {
    const team = await super.operator();
    if (!this.paused) {
      this.paused = true;
      const go = once(process, 'message');
      process.send?.({ looked: team === null });
      await go;
    }
    return team;
  }
}

interface Asked {
  readonly url: string;
  readonly isolation: 'SERIALIZABLE' | 'READ COMMITTED';
  readonly name: string;
}

async function register({ url, isolation, name }: Asked): Promise<void> {
  const config = loadConfig({ SERVICE_BCRYPT_COST: '4', SERVICE_SECRET: 'secret-of-the-tests' });
  const database = await createDataSource(url).initialize();
  const parts = new Parts({ config, database, log: new MemoryLog(), address: { baseUrl: 'http://localhost' } });
  const unitOfWork = new TypeOrmUnitOfWork(database, isolation);
  parts.replace(TypeOrmUnitOfWork, unitOfWork);
  parts.replace(UnitOfWork, unitOfWork);
  parts.replace(Teams, new PausingTeams(unitOfWork));
  const typed = { by: null, name, email: `${name}@example.com`, password: 'correct horse' };
  const result = await parts
    .get(RegisterAccount)
    .execute(typed)
    .then(({ account }) => ({ registered: account.id }))
    .catch((error: Error) => ({ refused: error.message }));
  await database.destroy();
  process.send?.(result);
}

process.on('message', (asked: Asked | 'go') => {
  if (asked !== 'go') void register(asked);
});
