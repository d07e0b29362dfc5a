import {
  MemoryAccountRepository,
  MemoryCredentialRepository,
  MemoryInviteRepository,
  MemoryMailedTokenRepository,
  MemorySpentSiteTokenRepository,
  MemoryTeamRepository,
} from '../fakes/accounts/memory-account-repositories.js';
import { MemoryMailOutbox } from '../fakes/accounts/memory-mail-outbox.js';
import { MemoryAlertRepository } from '../fakes/alerts/memory-alert-repository.js';
import { MemoryAlertRuleRepository } from '../fakes/alerts/memory-alert-rule-repository.js';
import { MemoryWebhookRepository } from '../fakes/alerts/memory-webhook-repository.js';
import { MemoryAuditRepository } from '../fakes/audit/memory-audit-repository.js';
import { MemoryConversationRepository } from '../fakes/chat/memory-conversation-repository.js';
import { MemoryRuntimeConnectionRepository } from '../fakes/chat/memory-runtime-connection-repository.js';
import { MemoryDeploymentRepository } from '../fakes/deployments/memory-deployment-repository.js';
import { MemoryEvaluationRepository } from '../fakes/jobs/memory-evaluation-repository.js';
import { MemoryJobHistory } from '../fakes/jobs/memory-job-history.js';
import { MemoryJobRepository } from '../fakes/jobs/memory-job-repository.js';
import { MemoryLocks } from '../fakes/memory-locks.js';
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
  locks: new MemoryLocks(store),
  teams: new MemoryTeamRepository(store),
  accounts: new MemoryAccountRepository(store),
  mailedTokens: new MemoryMailedTokenRepository(store),
  invites: new MemoryInviteRepository(store),
  spentSiteTokens: new MemorySpentSiteTokenRepository(store),
  credentials: new MemoryCredentialRepository(store),
  outbox: new MemoryMailOutbox(store),
  projects: new MemoryProjectRepository(store),
  models: new MemoryModelRepository(store),
  datasets: new MemoryDatasetRepository(store),
  modelAliases: new MemoryModelAliasRepository(store),
  connections: new MemoryRuntimeConnectionRepository(store),
  conversations: new MemoryConversationRepository(store),
  deployments: new MemoryDeploymentRepository(store),
  jobs: new MemoryJobRepository(store),
  jobHistory: new MemoryJobHistory(store),
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
