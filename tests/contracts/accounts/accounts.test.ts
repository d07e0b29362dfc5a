import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { accountsContract } from './accounts.contract.js';

accountsContract('memory', memoryUnderTest());
accountsContract('PostgreSQL', postgresUnderTest());
