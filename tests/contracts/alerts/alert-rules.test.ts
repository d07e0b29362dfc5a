import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { alertRulesContract } from './alert-rules.contract.js';

alertRulesContract('memory', memoryUnderTest());
alertRulesContract('PostgreSQL', postgresUnderTest());
