import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { conversationsContract } from './conversations.contract.js';

conversationsContract('memory', memoryUnderTest());
conversationsContract('PostgreSQL', postgresUnderTest());
