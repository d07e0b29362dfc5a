import 'reflect-metadata';
import { join } from 'node:path';
import { loadConfigFromProcess } from './src/bootstrap/config/config.js';
import { embeddedPostgresUrl } from './src/infrastructure/embedded-postgres/embedded-postgres.js';
import { createDataSource } from './src/infrastructure/typeorm/data-source.js';

/** For TypeORM's command line: `npx typeorm -d dist/ormconfig.js migration:show`. */
const { databaseUrl, dataDir } = loadConfigFromProcess();

export default createDataSource(databaseUrl ?? embeddedPostgresUrl(join(dataDir, 'postgres')));
