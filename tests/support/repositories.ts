import type { Credentials } from '../../src/application/access/ports/credentials.js';
import type { Accounts } from '../../src/application/accounts/ports/accounts.js';
import type { Invites } from '../../src/application/accounts/ports/invites.js';
import type { MailedTokens } from '../../src/application/accounts/ports/mailed-tokens.js';
import type { SpentSiteTokens } from '../../src/application/accounts/ports/spent-site-tokens.js';
import type { Teams } from '../../src/application/accounts/ports/teams.js';
import type { AlertRules } from '../../src/application/alerts/ports/alert-rules.js';
import type { Alerts } from '../../src/application/alerts/ports/alerts.js';
import type { Webhooks } from '../../src/application/alerts/ports/webhooks.js';
import type { AuditTrail } from '../../src/application/audit/ports/audit-trail.js';
import type { Conversations } from '../../src/application/chat/ports/conversations.js';
import type { RuntimeConnections } from '../../src/application/chat/ports/runtime-connections.js';
import type { Deployments } from '../../src/application/deployments/ports/deployments.js';
import type { Evaluations } from '../../src/application/evaluations/ports/evaluations.js';
import type { JobHistory } from '../../src/application/jobs/ports/job-history.js';
import type { Jobs } from '../../src/application/jobs/ports/jobs.js';
import type { Outbox } from '../../src/application/mail/ports/outbox.js';
import type { OneAtATime } from '../../src/application/shared/ports/one-at-a-time.js';
import type { UnitOfWork } from '../../src/application/shared/ports/unit-of-work.js';
import type { Datasets } from '../../src/application/workspace/ports/datasets.js';
import type { ModelAliases } from '../../src/application/workspace/ports/model-aliases.js';
import type { Models } from '../../src/application/workspace/ports/models.js';
import type { Projects } from '../../src/application/workspace/ports/projects.js';

/** All that keeps the service's records, over one store. */
export interface Repositories {
  readonly unitOfWork: UnitOfWork;
  readonly oneAtATime: OneAtATime;
  readonly teams: Teams;
  readonly accounts: Accounts;
  readonly mailedTokens: MailedTokens;
  readonly invites: Invites;
  readonly spentSiteTokens: SpentSiteTokens;
  readonly credentials: Credentials;
  readonly outbox: Outbox;
  readonly projects: Projects;
  readonly models: Models;
  readonly datasets: Datasets;
  readonly modelAliases: ModelAliases;
  readonly connections: RuntimeConnections;
  readonly conversations: Conversations;
  readonly deployments: Deployments;
  readonly jobs: Jobs;
  readonly jobHistory: JobHistory;
  readonly evaluations: Evaluations;
  readonly alertRules: AlertRules;
  readonly alerts: Alerts;
  readonly auditTrail: AuditTrail;
  readonly webhooks: Webhooks;
}

/** A store that a contract suite tries its adapter on. */
export interface StoreUnderTest {
  /** Empties the store and gives its repositories. */
  open(): Promise<Repositories>;
  /** The repositories of another process on the same store. */
  elsewhere(): Promise<Repositories>;
}
