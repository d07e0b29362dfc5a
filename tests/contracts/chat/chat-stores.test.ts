import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { deploymentsContract } from '../deployments/deployments.contract.js';
import { conversationsContract } from './conversations.contract.js';
import { runtimeConnectionsContract } from './runtime-connections.contract.js';

/** What is kept of models that are asked, in memory and in PostgreSQL: one database for all of it. */
for (const [name, store] of [
  ['memory', memoryUnderTest()],
  ['PostgreSQL', postgresUnderTest()],
] as const) {
  conversationsContract(name, store);
  runtimeConnectionsContract(name, store);
  deploymentsContract(name, store);
}
