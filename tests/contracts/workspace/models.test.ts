import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { modelsContract } from './models.contract.js';

modelsContract('memory', memoryUnderTest());
modelsContract('PostgreSQL', postgresUnderTest());
