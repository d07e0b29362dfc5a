import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { deploymentsContract } from './deployments.contract.js';

deploymentsContract('memory', memoryUnderTest());
deploymentsContract('PostgreSQL', postgresUnderTest());
