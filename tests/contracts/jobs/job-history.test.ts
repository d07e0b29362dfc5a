import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { jobHistoryContract } from './job-history.contract.js';

jobHistoryContract('memory', memoryUnderTest());
jobHistoryContract('PostgreSQL', postgresUnderTest());
