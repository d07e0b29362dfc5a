import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { alertsContract } from './alerts.contract.js';

alertsContract('memory', memoryUnderTest());
alertsContract('PostgreSQL', postgresUnderTest());
