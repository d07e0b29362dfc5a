import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { deploymentsContract } from '../deployments/deployments.contract.js';
import { conversationsContract } from './conversations.contract.js';
import { runtimeConnectionsContract } from './runtime-connections.contract.js';

/** Runs the suites of the chat repositories in memory and in one PostgreSQL database. */
for (const [name, store] of [
  ['memory', memoryUnderTest()],
  ['PostgreSQL', postgresUnderTest()],
] as const) {
  conversationsContract(name, store);
  runtimeConnectionsContract(name, store);
  deploymentsContract(name, store);
}
