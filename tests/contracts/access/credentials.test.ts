import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { credentialsContract } from './credentials.contract.js';

credentialsContract('memory', memoryUnderTest());
credentialsContract('PostgreSQL', postgresUnderTest());
