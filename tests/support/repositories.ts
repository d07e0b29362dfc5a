import type {
  AccountRepository,
  CredentialRepository,
  InviteRepository,
  MailedTokenRepository,
  MailOutbox,
  SpentSiteTokenRepository,
  TeamRepository,
} from '../../src/application/accounts/ports.js';
import type { AlertRepository, AlertRuleRepository, WebhookRepository } from '../../src/application/alerts/ports.js';
import type { AuditRepository } from '../../src/application/audit/ports.js';
import type { ConversationRepository, RuntimeConnectionRepository } from '../../src/application/chat/ports.js';
import type { DeploymentRepository } from '../../src/application/deployments/ports.js';
import type { EvaluationRepository, JobHistory, JobRepository } from '../../src/application/jobs/ports.js';
import type { Locks, UnitOfWork } from '../../src/application/shared/ports.js';
import type {
  DatasetRepository,
  ModelAliasRepository,
  ModelRepository,
  ProjectRepository,
} from '../../src/application/workspace/ports.js';

/** All that keeps the service's records, over one store. */
export interface Repositories {
  readonly unitOfWork: UnitOfWork;
  readonly locks: Locks;
  readonly teams: TeamRepository;
  readonly accounts: AccountRepository;
  readonly mailedTokens: MailedTokenRepository;
  readonly invites: InviteRepository;
  readonly spentSiteTokens: SpentSiteTokenRepository;
  readonly credentials: CredentialRepository;
  readonly outbox: MailOutbox;
  readonly projects: ProjectRepository;
  readonly models: ModelRepository;
  readonly datasets: DatasetRepository;
  readonly modelAliases: ModelAliasRepository;
  readonly connections: RuntimeConnectionRepository;
  readonly conversations: ConversationRepository;
  readonly deployments: DeploymentRepository;
  readonly jobs: JobRepository;
  readonly jobHistory: JobHistory;
  readonly evaluations: EvaluationRepository;
  readonly alertRules: AlertRuleRepository;
  readonly alerts: AlertRepository;
  readonly auditTrail: AuditRepository;
  readonly webhooks: WebhookRepository;
}

/** A store that a contract suite tries its adapter on. */
export interface StoreUnderTest {
  /** Empties the store and gives its repositories. */
  open(): Promise<Repositories>;
  /** The repositories of another process on the same store. */
  elsewhere(): Promise<Repositories>;
}
