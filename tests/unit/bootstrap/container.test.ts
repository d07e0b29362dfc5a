import { loadConfig } from '../../../src/bootstrap/config/config.js';
import { createContainer } from '../../../src/bootstrap/container.js';
import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { controllers } from '../../../src/interfaces/http/controllers.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';

describe('the container', () => {
  const config = loadConfig({ SERVICE_SECRET: 'secret-of-the-tests', DATABASE_URL: 'postgres://localhost/none' });
  const database = createDataSource('postgres://localhost/none');
  const container = createContainer({ config, database, logger: new MemoryLogger() });

  it.each(controllers.map((controller) => [controller.name, controller] as const))('resolves %s', (_, controller) => {
    const resolved = container.get(controller);
    expect(resolved).toBeInstanceOf(controller);
    expect(container.get(controller)).toBe(resolved);
  });
});
