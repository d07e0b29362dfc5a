import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { evaluationsContract } from './evaluations.contract.js';

evaluationsContract('memory', memoryUnderTest());
evaluationsContract('PostgreSQL', postgresUnderTest());
