import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { mailedTokensContract } from './mailed-tokens.contract.js';

mailedTokensContract('memory', memoryUnderTest());
mailedTokensContract('PostgreSQL', postgresUnderTest());
