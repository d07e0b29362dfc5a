import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource, type MigrationInterface } from 'typeorm';
import type { Tracer } from '../../application/shared/ports.js';
import { NoTracer } from '../system/adapters.js';
import { AccountTable, TeamTable } from './accounts/account.repository.js';
import { CredentialTable } from './accounts/credential.repository.js';
import { InviteTable } from './accounts/invite.repository.js';
import { MailedTokenTable, SpentSiteTokenTable } from './accounts/mailed-token.repository.js';
import { AlertMessageTable, AlertRuleTable, AlertTable } from './alerts/alert.repository.js';
import { WebhookTable } from './alerts/webhook.repository.js';
import { AuditTable } from './audit/audit.repository.js';
import { ConversationMessageTable, ConversationTable } from './chat/conversation.repository.js';
import { ResponseBatchTable, ResponseTable } from './chat/response.repository.js';
import { RuntimeConnectionTable } from './chat/runtime-connection.repository.js';
import { connectionTimeoutMs, limits, tracedClient, withSession } from './connections.js';
import { DeploymentTable } from './deployments/deployment.repository.js';
import { EvaluationResultTable, EvaluationTable } from './jobs/evaluation.repository.js';
import { JobTable } from './jobs/job.repository.js';
import { OwnCallTable } from './jobs/own-call.repository.js';
import { UsageNameTable, UsageProgressTable, UsageTable } from './jobs/usage.repository.js';
import { InstanceTable } from './operations/instance-reports.js';
import { RateLimitTable } from './operations/rate-limits.js';
import { TaskWorkerTable } from './queue/graphile-work-queue.js';
import { FeedbackTable } from './record/feedback.repository.js';
import { KeptCallTable } from './record/kept-call.repository.js';
import { BudgetHoldTable, BudgetPeriodTable, BudgetTable } from './spend/budget.repository.js';
import {
  DatasetChunkTable,
  DatasetLeftoverTable,
  DatasetOldContentTable,
  DatasetRecordTable,
  DatasetTable,
  DatasetVersionTable,
} from './workspace/dataset-tables.js';
import { ModelAliasTable, ModelTable, ModelVersionTable } from './workspace/model.repository.js';
import { ProjectTable, ProjectVersionTable } from './workspace/project.repository.js';

export { DataSource };

const entities = [
  AccountTable,
  AlertMessageTable,
  AlertRuleTable,
  AlertTable,
  AuditTable,
  ConversationMessageTable,
  ConversationTable,
  CredentialTable,
  DatasetChunkTable,
  DatasetLeftoverTable,
  DatasetOldContentTable,
  DatasetRecordTable,
  DatasetTable,
  DatasetVersionTable,
  DeploymentTable,
  EvaluationResultTable,
  EvaluationTable,
  MailedTokenTable,
  InviteTable,
  ModelAliasTable,
  JobTable,
  OwnCallTable,
  KeptCallTable,
  FeedbackTable,
  BudgetTable,
  BudgetPeriodTable,
  BudgetHoldTable,
  ModelTable,
  ModelVersionTable,
  ProjectTable,
  ProjectVersionTable,
  RateLimitTable,
  ResponseBatchTable,
  ResponseTable,
  RuntimeConnectionTable,
  SpentSiteTokenTable,
  InstanceTable,
  TaskWorkerTable,
  TeamTable,
  UsageNameTable,
  UsageProgressTable,
  UsageTable,
  WebhookTable,
];
const folder = join(__dirname, 'migrations');
/** The migrations in the folder, oldest first. A new file needs no other change. */
const migrations = readdirSync(folder)
  .filter((name) => /^\d+-[a-z0-9-]+\.[jt]s$/.test(name))
  .sort()
  .flatMap((name) => Object.values(require(join(folder, name)) as Record<string, new () => MigrationInterface>));

const options = (url: string) =>
  ({
    type: 'postgres',
    url,
    migrations,
    synchronize: false,
    installExtensions: false,
    logging: false,
    applicationName: 'tenon',
    // the pool replaces a broken connection, and the next statement reports the error
    poolErrorHandler: () => undefined,
  }) as const;

/** Creates the pool that serves requests. Every wait of a statement is limited, so an outage is noticed within 5 s. */
export const createDataSource = (url: string, poolSize = 16, tracer: Tracer = new NoTracer()): DataSource =>
  new DataSource({
    ...options(withSession(url)),
    entities,
    extra: { ...limits(url), Client: tracedClient(tracer), max: poolSize },
  });

export const migrationNames: readonly string[] = migrations.map(({ name }) => name);

/** The wait of migrations and restorations for a connection. It is long, because no caller waits for them. */
const MIGRATION_CONNECTION_TIMEOUT_MS = 5_000;

/** Creates the connections for migrations, without limits for statements. `only` names the allowed migrations. */
export const createMigrationSource = (url: string, only = migrationNames): DataSource =>
  new DataSource({
    ...options(url),
    migrations: migrations.filter(({ name }) => only.includes(name)),
    extra: {
      max: 2,
      keepAlive: true,
      connectionTimeoutMillis: Math.max(MIGRATION_CONNECTION_TIMEOUT_MS, connectionTimeoutMs(url)),
    },
  });
