import {
  MemoryAccountRepository,
  MemoryCredentialRepository,
  MemoryInviteRepository,
  MemoryMailedTokenRepository,
  MemorySpentSiteTokenRepository,
  MemoryTeamRepository,
} from '../fakes/accounts/memory-account-repositories.js';
import {
  MemoryAlertRepository,
  MemoryAlertRuleRepository,
  MemoryWebhookRepository,
} from '../fakes/alerts/memory-alert-repositories.js';
import { MemoryAuditRepository } from '../fakes/audit/memory-audit-repository.js';
import {
  MemoryConversationRepository,
  MemoryRuntimeConnectionRepository,
} from '../fakes/chat/memory-chat-repositories.js';
import { MemoryDeploymentRepository } from '../fakes/deployments/memory-deployment-repository.js';
import {
  MemoryEvaluationRepository,
  MemoryJobHistory,
  MemoryJobRepository,
  MemoryUsageRepository,
} from '../fakes/jobs/memory-job-repositories.js';
import { MemoryStore } from '../fakes/memory-store.js';
import {
  MemoryDatasetRepository,
  MemoryModelAliasRepository,
  MemoryModelRepository,
  MemoryProjectRepository,
} from '../fakes/workspace/memory-workspace.js';
import type { Repositories, StoreUnderTest } from './repositories.js';

export const memoryRepositories = (store = new MemoryStore()): Repositories => ({
  unitOfWork: store,
  teams: new MemoryTeamRepository(store),
  accounts: new MemoryAccountRepository(store),
  mailedTokens: new MemoryMailedTokenRepository(store),
  invites: new MemoryInviteRepository(store),
  spentSiteTokens: new MemorySpentSiteTokenRepository(store),
  credentials: new MemoryCredentialRepository(store),
  projects: new MemoryProjectRepository(store),
  models: new MemoryModelRepository(store),
  datasets: new MemoryDatasetRepository(store),
  modelAliases: new MemoryModelAliasRepository(store),
  connections: new MemoryRuntimeConnectionRepository(store),
  conversations: new MemoryConversationRepository(store),
  deployments: new MemoryDeploymentRepository(store),
  jobs: new MemoryJobRepository(store),
  jobHistory: new MemoryJobHistory(store),
  usage: new MemoryUsageRepository(store),
  evaluations: new MemoryEvaluationRepository(store),
  alertRules: new MemoryAlertRuleRepository(store),
  alerts: new MemoryAlertRepository(store),
  auditTrail: new MemoryAuditRepository(store),
  webhooks: new MemoryWebhookRepository(store),
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
