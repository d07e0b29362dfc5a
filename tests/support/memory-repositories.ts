import { MemoryAccountRepository, MemoryTeamRepository } from '../fakes/accounts/memory-account-repositories.js';
import { MemoryAlertRepository, MemoryWebhookRepository } from '../fakes/alerts/memory-alert-repositories.js';
import { MemoryStore } from '../fakes/memory-store.js';
import type { Repositories } from './repositories.js';

/** Contains the repositories that notifiers need. */
export const memoryRepositories = (store = new MemoryStore()): Repositories =>
  ({
    unitOfWork: store,
    teams: new MemoryTeamRepository(store),
    accounts: new MemoryAccountRepository(store),
    alerts: new MemoryAlertRepository(store),
    webhooks: new MemoryWebhookRepository(store),
  }) as Partial<Repositories> as Repositories;

export const memoryUnderTest = () => ({ open: async () => memoryRepositories() });
