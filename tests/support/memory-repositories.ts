import { MemoryCredentials } from '../../src/infrastructure/memory/access/memory-credentials.js';
import { MemoryAccounts } from '../../src/infrastructure/memory/accounts/memory-accounts.js';
import { MemoryInvites } from '../../src/infrastructure/memory/accounts/memory-invites.js';
import { MemoryMailedTokens } from '../../src/infrastructure/memory/accounts/memory-mailed-tokens.js';
import { MemorySpentSiteTokens } from '../../src/infrastructure/memory/accounts/memory-spent-site-tokens.js';
import { MemoryTeams } from '../../src/infrastructure/memory/accounts/memory-teams.js';
import { MemoryConversations } from '../../src/infrastructure/memory/chat/memory-conversations.js';
import { MemoryRuntimeConnections } from '../../src/infrastructure/memory/chat/memory-runtime-connections.js';
import { MemoryDeployments } from '../../src/infrastructure/memory/deployments/memory-deployments.js';
import { MemoryOutbox } from '../../src/infrastructure/memory/mail/memory-outbox.js';
import { MemoryStore } from '../../src/infrastructure/memory/memory-store.js';
import { MemoryDatasets } from '../../src/infrastructure/memory/workspace/memory-datasets.js';
import { MemoryModelAliases } from '../../src/infrastructure/memory/workspace/memory-model-aliases.js';
import { MemoryModels } from '../../src/infrastructure/memory/workspace/memory-models.js';
import { MemoryProjects } from '../../src/infrastructure/memory/workspace/memory-projects.js';
import type { Repositories, StoreUnderTest } from './repositories.js';

export const memoryRepositories = (store = new MemoryStore()): Repositories => ({
  unitOfWork: store,
  teams: new MemoryTeams(store),
  accounts: new MemoryAccounts(store),
  mailedTokens: new MemoryMailedTokens(store),
  invites: new MemoryInvites(store),
  spentSiteTokens: new MemorySpentSiteTokens(store),
  credentials: new MemoryCredentials(store),
  outbox: new MemoryOutbox(store),
  projects: new MemoryProjects(store),
  models: new MemoryModels(store),
  datasets: new MemoryDatasets(store),
  modelAliases: new MemoryModelAliases(store),
  connections: new MemoryRuntimeConnections(store),
  conversations: new MemoryConversations(store),
  deployments: new MemoryDeployments(store),
});

export function memoryUnderTest(): StoreUnderTest {
  let store = new MemoryStore();
  return {
    open: async () => {
      store = new MemoryStore();
      return memoryRepositories(store);
    },
    elsewhere: async () => memoryRepositories(store),
  };
}
