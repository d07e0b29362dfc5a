import { MemoryCredentials } from '../../src/infrastructure/memory/access/memory-credentials.js';
import { MemoryAccounts } from '../../src/infrastructure/memory/accounts/memory-accounts.js';
import { MemoryInvites } from '../../src/infrastructure/memory/accounts/memory-invites.js';
import { MemoryMailedTokens } from '../../src/infrastructure/memory/accounts/memory-mailed-tokens.js';
import { MemorySpentSiteTokens } from '../../src/infrastructure/memory/accounts/memory-spent-site-tokens.js';
import { MemoryTeams } from '../../src/infrastructure/memory/accounts/memory-teams.js';
import { MemoryAlertRules } from '../../src/infrastructure/memory/alerts/memory-alert-rules.js';
import { MemoryAlerts } from '../../src/infrastructure/memory/alerts/memory-alerts.js';
import { MemoryWebhooks } from '../../src/infrastructure/memory/alerts/memory-webhooks.js';
import { MemoryAuditTrail } from '../../src/infrastructure/memory/audit/memory-audit-trail.js';
import { MemoryConversations } from '../../src/infrastructure/memory/chat/memory-conversations.js';
import { MemoryRuntimeConnections } from '../../src/infrastructure/memory/chat/memory-runtime-connections.js';
import { MemoryDeployments } from '../../src/infrastructure/memory/deployments/memory-deployments.js';
import { MemoryEvaluations } from '../../src/infrastructure/memory/evaluations/memory-evaluations.js';
import { MemoryJobHistory } from '../../src/infrastructure/memory/jobs/memory-job-history.js';
import { MemoryJobs } from '../../src/infrastructure/memory/jobs/memory-jobs.js';
import { MemoryOutbox } from '../../src/infrastructure/memory/mail/memory-outbox.js';
import { MemoryOneAtATime } from '../../src/infrastructure/memory/memory-one-at-a-time.js';
import { MemoryStore } from '../../src/infrastructure/memory/memory-store.js';
import { MemoryDatasets } from '../../src/infrastructure/memory/workspace/memory-datasets.js';
import { MemoryModelAliases } from '../../src/infrastructure/memory/workspace/memory-model-aliases.js';
import { MemoryModels } from '../../src/infrastructure/memory/workspace/memory-models.js';
import { MemoryProjects } from '../../src/infrastructure/memory/workspace/memory-projects.js';
import type { Repositories, StoreUnderTest } from './repositories.js';

export const memoryRepositories = (store = new MemoryStore()): Repositories => ({
  unitOfWork: store,
  oneAtATime: new MemoryOneAtATime(store),
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
  jobs: new MemoryJobs(store),
  jobHistory: new MemoryJobHistory(store),
  evaluations: new MemoryEvaluations(store),
  alertRules: new MemoryAlertRules(store),
  alerts: new MemoryAlerts(store),
  auditTrail: new MemoryAuditTrail(store),
  webhooks: new MemoryWebhooks(store),
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
