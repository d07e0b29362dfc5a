import { Container } from 'inversify';
import {
  AccountRepository,
  CredentialRepository,
  InviteRepository,
  MailedTokenRepository,
  MailSealer,
  SpentSiteTokenRepository,
  TeamRepository,
} from '../application/accounts/ports.js';
import { AlertRepository, AlertRuleRepository, WebhookRepository } from '../application/alerts/ports.js';
import { AuditRepository } from '../application/audit/ports.js';
import { ConversationRepository, ResponseRepository, RuntimeConnectionRepository } from '../application/chat/ports.js';
import { DeploymentRepository } from '../application/deployments/ports.js';
import {
  EvaluationRepository,
  InstanceRegistry,
  JobHistory,
  JobRepository,
  OwnCallRepository,
  UsageRepository,
} from '../application/jobs/ports.js';
import { ExpiredData, InstanceReports, StorageMeter, StorageProbe } from '../application/operations/ports.js';
import { FeedbackRepository, KeptCallRepository } from '../application/record/ports.js';
import { DesiredStateChanges, UnitOfWork, WorkQueue } from '../application/shared/ports.js';
import { BudgetRepository, HoldRepository, KeyLimitRepository } from '../application/spend/ports.js';
import {
  DatasetRepository,
  ModelAliasRepository,
  ModelRepository,
  ProjectRepository,
  RecordRepository,
  WorkspaceSearch,
} from '../application/workspace/ports.js';
import { Sealer } from '../infrastructure/crypto/secrets.js';
import {
  TypeOrmAccountRepository,
  TypeOrmTeamRepository,
} from '../infrastructure/typeorm/accounts/account.repository.js';
import { TypeOrmCredentialRepository } from '../infrastructure/typeorm/accounts/credential.repository.js';
import { TypeOrmInviteRepository } from '../infrastructure/typeorm/accounts/invite.repository.js';
import {
  TypeOrmMailedTokenRepository,
  TypeOrmSpentSiteTokenRepository,
} from '../infrastructure/typeorm/accounts/mailed-token.repository.js';
import {
  TypeOrmAlertRepository,
  TypeOrmAlertRuleRepository,
} from '../infrastructure/typeorm/alerts/alert.repository.js';
import { TypeOrmWebhookRepository } from '../infrastructure/typeorm/alerts/webhook.repository.js';
import { TypeOrmAuditRepository } from '../infrastructure/typeorm/audit/audit.repository.js';
import { TypeOrmConversationRepository } from '../infrastructure/typeorm/chat/conversation.repository.js';
import { TypeOrmResponseRepository } from '../infrastructure/typeorm/chat/response.repository.js';
import { TypeOrmRuntimeConnectionRepository } from '../infrastructure/typeorm/chat/runtime-connection.repository.js';
import { DataSource } from '../infrastructure/typeorm/data-source.js';
import { TypeOrmDeploymentRepository } from '../infrastructure/typeorm/deployments/deployment.repository.js';
import { PostgresDesiredStateChanges } from '../infrastructure/typeorm/desired-state-changes.js';
import { TypeOrmEvaluationRepository } from '../infrastructure/typeorm/jobs/evaluation.repository.js';
import { TypeOrmInstanceRegistry } from '../infrastructure/typeorm/jobs/instance-registry.js';
import { TypeOrmJobRepository } from '../infrastructure/typeorm/jobs/job.repository.js';
import { TypeOrmJobHistory } from '../infrastructure/typeorm/jobs/job-history.js';
import { TypeOrmOwnCallRepository } from '../infrastructure/typeorm/jobs/own-call.repository.js';
import { TypeOrmUsageRepository } from '../infrastructure/typeorm/jobs/usage.repository.js';
import { TypeOrmInstanceReports } from '../infrastructure/typeorm/operations/instance-reports.js';
import { TypeOrmExpiredData, TypeOrmStorageProbe } from '../infrastructure/typeorm/operations/operations.js';
import { TypeOrmStorageMeter } from '../infrastructure/typeorm/operations/storage-meter.js';
import { GraphileWorkQueue } from '../infrastructure/typeorm/queue/graphile-work-queue.js';
import { TypeOrmFeedbackRepository } from '../infrastructure/typeorm/record/feedback.repository.js';
import { TypeOrmKeptCallRepository } from '../infrastructure/typeorm/record/kept-call.repository.js';
import { TypeOrmBudgetRepository } from '../infrastructure/typeorm/spend/budget.repository.js';
import { TypeOrmHoldRepository } from '../infrastructure/typeorm/spend/hold.repository.js';
import { TypeOrmKeyLimitRepository } from '../infrastructure/typeorm/spend/key-limit.repository.js';
import { TypeOrmUnitOfWork } from '../infrastructure/typeorm/typeorm-unit-of-work.js';
import { TypeOrmDatasetRepository } from '../infrastructure/typeorm/workspace/dataset.repository.js';
import {
  TypeOrmModelAliasRepository,
  TypeOrmModelRepository,
} from '../infrastructure/typeorm/workspace/model.repository.js';
import { TypeOrmProjectRepository } from '../infrastructure/typeorm/workspace/project.repository.js';
import { TypeOrmRecordRepository } from '../infrastructure/typeorm/workspace/record.repository.js';
import { TypeOrmWorkspaceSearch } from '../infrastructure/typeorm/workspace/workspace-search.js';

/** Binds the storage ports to their TypeORM adapters. */
export function bindStorage(container: Container, database: DataSource, secret: string): void {
  container.bind(DataSource).toConstantValue(database);
  container.bind(UnitOfWork).toService(TypeOrmUnitOfWork);
  container.bind(WorkQueue).to(GraphileWorkQueue);
  container.bind(AuditRepository).to(TypeOrmAuditRepository);
  container.bind(BudgetRepository).to(TypeOrmBudgetRepository);
  container.bind(HoldRepository).to(TypeOrmHoldRepository);
  container.bind(KeyLimitRepository).to(TypeOrmKeyLimitRepository);
  container.bind(AccountRepository).to(TypeOrmAccountRepository);
  container.bind(TeamRepository).to(TypeOrmTeamRepository);
  container.bind(CredentialRepository).to(TypeOrmCredentialRepository);
  container.bind(MailedTokenRepository).to(TypeOrmMailedTokenRepository);
  container.bind(SpentSiteTokenRepository).to(TypeOrmSpentSiteTokenRepository);
  container.bind(ProjectRepository).to(TypeOrmProjectRepository);
  container.bind(DatasetRepository).to(TypeOrmDatasetRepository);
  container.bind(RecordRepository).to(TypeOrmRecordRepository);
  container.bind(ModelRepository).to(TypeOrmModelRepository);
  container.bind(ModelAliasRepository).to(TypeOrmModelAliasRepository);
  container.bind(WorkspaceSearch).to(TypeOrmWorkspaceSearch);
  container.bind(RuntimeConnectionRepository).to(TypeOrmRuntimeConnectionRepository);
  container.bind(ConversationRepository).to(TypeOrmConversationRepository);
  container.bind(FeedbackRepository).to(TypeOrmFeedbackRepository);
  container.bind(KeptCallRepository).to(TypeOrmKeptCallRepository);
  container.bind(ResponseRepository).to(TypeOrmResponseRepository);
  container.bind(DeploymentRepository).to(TypeOrmDeploymentRepository);
  container.bind(JobRepository).to(TypeOrmJobRepository);
  container.bind(JobHistory).to(TypeOrmJobHistory);
  container.bind(OwnCallRepository).to(TypeOrmOwnCallRepository);
  container.bind(UsageRepository).to(TypeOrmUsageRepository);
  container.bind(EvaluationRepository).to(TypeOrmEvaluationRepository);
  container.bind(DesiredStateChanges).to(PostgresDesiredStateChanges);
  container.bind(InstanceRegistry).to(TypeOrmInstanceRegistry);
  container.bind(AlertRuleRepository).to(TypeOrmAlertRuleRepository);
  container.bind(AlertRepository).to(TypeOrmAlertRepository);
  container.bind(MailSealer).toConstantValue(new Sealer(secret, 'outbox'));
  container.bind(StorageProbe).to(TypeOrmStorageProbe);
  container.bind(InstanceReports).to(TypeOrmInstanceReports);
  container.bind(StorageMeter).to(TypeOrmStorageMeter);
  container.bind(ExpiredData).to(TypeOrmExpiredData);
  container
    .bind(InviteRepository)
    .toResolvedValue(
      (unitOfWork) => new TypeOrmInviteRepository(unitOfWork, new Sealer(secret, 'invites')),
      [TypeOrmUnitOfWork],
    );
  container
    .bind(WebhookRepository)
    .toResolvedValue(
      (unitOfWork) => new TypeOrmWebhookRepository(unitOfWork, new Sealer(secret, 'webhooks')),
      [TypeOrmUnitOfWork],
    );
}
