import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { jobsContract } from './jobs.contract.js';

jobsContract('memory', memoryUnderTest());
jobsContract('PostgreSQL', postgresUnderTest());
