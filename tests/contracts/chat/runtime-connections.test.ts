import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { runtimeConnectionsContract } from './runtime-connections.contract.js';

runtimeConnectionsContract('memory', memoryUnderTest());
runtimeConnectionsContract('PostgreSQL', postgresUnderTest());
