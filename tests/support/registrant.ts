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

/** Registers one account, and waits after it has looked whether there is a team until it hears "go". */
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

async function main(): Promise<void> {
  const [url = '', isolation, name = ''] = process.argv.slice(2);
  const config = loadConfig({ SERVICE_BCRYPT_COST: '4', SERVICE_SECRET: 'secret-of-the-tests' });
  const database = await createDataSource(url).initialize();
  const parts = new Parts({ config, database, log: new MemoryLog(), address: { baseUrl: 'http://localhost' } });
  const unitOfWork = new TypeOrmUnitOfWork(database, isolation as 'SERIALIZABLE');
  parts.replace(TypeOrmUnitOfWork, unitOfWork);
  parts.replace(UnitOfWork, unitOfWork);
  parts.replace(Teams, new PausingTeams(unitOfWork));
  const typed = { by: null, name, email: `${name}@example.com`, password: 'correct horse' };
  const result = await parts
    .get(RegisterAccount)
    .execute(typed)
    .then(({ account }) => ({ registered: account.id }))
    .catch((error: Error) => ({ refused: error.message }));
  process.send?.(result);
  await database.destroy();
  process.disconnect?.();
}

void main();
