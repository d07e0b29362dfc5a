import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { datasetsContract } from './datasets.contract.js';

datasetsContract('memory', memoryUnderTest());
datasetsContract('PostgreSQL', postgresUnderTest());
