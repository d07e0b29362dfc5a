import { once } from 'node:events';
import { TeamRepository } from '../../src/application/accounts/ports.js';
import { RegistrationService } from '../../src/application/accounts/registration.service.js';
import { UnitOfWork } from '../../src/application/shared/ports.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { createContainer } from '../../src/bootstrap/container.js';
import type { Team } from '../../src/domain/accounts/account.js';
import { TypeOrmTeamRepository } from '../../src/infrastructure/typeorm/accounts/team.repository.js';
import { createDataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryLogger } from '../fakes/shared/memory-logger.js';

/** Registers the account it is asked for, and waits after it has looked whether there is a team until it hears "go". */
class PausingTeams extends TypeOrmTeamRepository {
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
  const container = createContainer({
    config,
    database,
    logger: new MemoryLogger(),
  });
  const unitOfWork = new TypeOrmUnitOfWork(database, isolation);
  container.rebind(TypeOrmUnitOfWork).toConstantValue(unitOfWork);
  container.rebind(UnitOfWork).toConstantValue(unitOfWork);
  container.rebind(TeamRepository).toConstantValue(new PausingTeams(unitOfWork));
  const typed = { name, email: `${name}@example.com`, password: 'correct horse' };
  const result = await container
    .get(RegistrationService)
    .register(null, typed)
    .then(({ account }) => ({ registered: account.id }))
    .catch((error: Error) => ({ refused: error.message }));
  await database.destroy();
  process.send?.(result);
}

process.on('message', (asked: Asked | 'go') => {
  if (asked !== 'go') void register(asked);
});
