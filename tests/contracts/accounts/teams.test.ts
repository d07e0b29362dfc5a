import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { teamsContract } from './teams.contract.js';

teamsContract('memory', memoryUnderTest());
teamsContract('PostgreSQL', postgresUnderTest());
