import { DataSource } from 'typeorm';
import { AccountTable } from './accounts/account.repository.js';
import { CredentialTable } from './accounts/credential.repository.js';
import { InviteTable } from './accounts/invite.repository.js';
import { OutboxTable } from './accounts/mail-outbox.js';
import { MailedTokenTable } from './accounts/mailed-token.repository.js';
import { SpentSiteTokenTable } from './accounts/spent-site-token.repository.js';
import { TeamTable } from './accounts/team.repository.js';
import { AlertTable } from './alerts/alert.repository.js';
import { AlertRuleTable } from './alerts/alert-rule.repository.js';
import { WebhookTable } from './alerts/webhook.repository.js';
import { ConversationMessageTable, ConversationTable } from './chat/conversation.repository.js';
import { RuntimeConnectionTable } from './chat/runtime-connection.repository.js';
import { DeploymentTable } from './deployments/deployment.repository.js';
import { EvaluationResultTable, EvaluationTable } from './jobs/evaluation.repository.js';
import { JobTable } from './jobs/job-table.js';
import { Foundation1763683200000 } from './migrations/1763683200000-foundation.js';
import { TeamAccounts1763942400000 } from './migrations/1763942400000-team-accounts.js';
import { Workspace1764201600000 } from './migrations/1764201600000-workspace.js';
import { Deployments1764288000000 } from './migrations/1764288000000-deployments.js';
import { Jobs1764374400000 } from './migrations/1764374400000-jobs.js';
import { SyncJobs1764417600000 } from './migrations/1764417600000-sync-jobs.js';
import { Evaluations1764464400000 } from './migrations/1764464400000-evaluations.js';
import { Notifications1764547200000 } from './migrations/1764547200000-notifications.js';
import { Housekeeping1764590400000 } from './migrations/1764590400000-housekeeping.js';
import { Audit1764633600000 } from './migrations/1764633600000-audit.js';
import { Owners1764720000000 } from './migrations/1764720000000-owners.js';
import { FinishNumbers1764806400000 } from './migrations/1764806400000-finish-numbers.js';
import { DesiredState1764892800000 } from './migrations/1764892800000-desired-state.js';
import { LimitedClient } from './pool.js';
import { TaskView } from './queue/task-view.js';
import { DatasetContentTable, DatasetTable, DatasetVersionTable } from './workspace/dataset.repository.js';
import { ModelTable, ModelVersionTable } from './workspace/model.repository.js';
import { ModelAliasTable } from './workspace/model-alias.repository.js';
import { ProjectTable, ProjectVersionTable } from './workspace/project.repository.js';

export { DataSource };

const entities = [
  AccountTable,
  AlertRuleTable,
  AlertTable,
  ConversationMessageTable,
  ConversationTable,
  CredentialTable,
  DatasetContentTable,
  DatasetTable,
  DatasetVersionTable,
  DeploymentTable,
  EvaluationResultTable,
  EvaluationTable,
  MailedTokenTable,
  InviteTable,
  ModelAliasTable,
  JobTable,
  ModelTable,
  ModelVersionTable,
  OutboxTable,
  ProjectTable,
  ProjectVersionTable,
  RuntimeConnectionTable,
  SpentSiteTokenTable,
  TaskView,
  TeamTable,
  WebhookTable,
];
const migrations = [
  Foundation1763683200000,
  TeamAccounts1763942400000,
  Workspace1764201600000,
  Deployments1764288000000,
  Jobs1764374400000,
  SyncJobs1764417600000,
  Evaluations1764464400000,
  Notifications1764547200000,
  Housekeeping1764590400000,
  Audit1764633600000,
  Owners1764720000000,
  FinishNumbers1764806400000,
  DesiredState1764892800000,
];

/** Limits what the server spends on one statement, waiting for a lock included. */
const STATEMENT_TIMEOUT_MS = 3_000;
/** Limits the wait for an answer of a server that may be out of reach. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 200;
/** Limits the wait for a connection. Together with one statement it stays below the promised 5 s. */
const CONNECTION_TIMEOUT_MS = 1_500;
/** Connections that broke unnoticed leave the pool after this. */
const IDLE_TIMEOUT_MS = 5_000;
/** Locks need this isolation. The timeouts let the server end connections of instances that are gone. */
const SESSION =
  '-c default_transaction_isolation=read\\ committed -c idle_session_timeout=60s ' +
  '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10';

const options = (url: string) =>
  ({
    type: 'postgres',
    url,
    migrations,
    synchronize: false,
    installExtensions: false,
    logging: false,
    applicationName: 'tenon',
    poolErrorHandler: () => undefined, // the pool replaces an idle connection that breaks; the next statement reports it
  }) as const;

/** Adds the settings of the session. A parameter of the URL would replace those of the pool. */
function withSession(url: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', [changed.searchParams.get('options'), SESSION].join(' ').trim());
  return changed.href;
}

/** A longer `query_timeout` in the URL lengthens the wait for a connection as well. */
const connectionTimeoutMs = (url: string): number =>
  Math.max(CONNECTION_TIMEOUT_MS, Number(new URL(url).searchParams.get('query_timeout') ?? 0));

/** The pool that serves requests. Every wait of a statement is limited, so an outage is noticed within 5 s. */
export const createDataSource = (url: string, poolSize = 16): DataSource =>
  new DataSource({
    ...options(withSession(url)),
    entities,
    extra: {
      Client: LimitedClient,
      max: poolSize,
      keepAlive: true,
      connectionTimeoutMillis: connectionTimeoutMs(url),
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 30_000,
    },
  });

export const migrationNames: readonly string[] = migrations.map(({ name }) => name);

/** Connections without a limit for statements, for migrations: all, or those named. */
export const createMigrationSource = (url: string, only = migrationNames): DataSource =>
  new DataSource({
    ...options(url),
    migrations: migrations.filter(({ name }) => only.includes(name)),
    extra: { max: 2, keepAlive: true, connectionTimeoutMillis: connectionTimeoutMs(url) },
  });
