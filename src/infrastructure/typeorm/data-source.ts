import type { Pool } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { AccountTable } from './accounts/account.repository.js';
import { CredentialTable } from './accounts/credential.repository.js';
import { InviteTable } from './accounts/invite.repository.js';
import { OutboxTable } from './accounts/mail-outbox.js';
import { MailedTokenTable } from './accounts/mailed-token.repository.js';
import { TeamTable } from './accounts/team.repository.js';
import { AlertTable } from './alerts/alert.repository.js';
import { AlertRuleTable } from './alerts/alert-rule.repository.js';
import { WebhookTable } from './alerts/webhook.repository.js';
import { ConversationMessageTable, ConversationTable } from './chat/conversation.repository.js';
import { RuntimeConnectionTable } from './chat/runtime-connection.repository.js';
import { DeploymentTable } from './deployments/deployment.repository.js';
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
import { Patience } from './patience.js';
import { boundConnecting, Lines } from './pool-care.js';
import { TimelyClient } from './timely-client.js';
import { DatasetTable, DatasetVersionTable } from './workspace/dataset.repository.js';
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
  DatasetTable,
  DatasetVersionTable,
  DeploymentTable,
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
];

/** No statement may wait longer than this, for a lock or whatever else, so that an outage is told in time. */
const STATEMENT_TIMEOUT_MS = 3_500;
/** The server has said so by then, or is silent. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 300;
/** Nor may anybody wait longer for a connection, */
const CONNECTION_TIMEOUT_MS = 4_000;
/** which is made sooner, or not at all: what was lost on the way is asked for again. */
const CONNECT_TIMEOUT_MS = 2_500;
/** A connection on which nothing was heard for so long may be dead. */
const DOUBT_MS = 1_000;
/** The server ends what nobody is at the other end of, which it may not hear of: the pool lets go of a connection sooner. */
const SESSION = { idle_session_timeout: '60s', tcp_keepalives_idle: '30', tcp_keepalives_interval: '10' };
/** What one caller waits in all, and still hears of it in time. */
const PATIENCE_MS = 4_300;

const options = (url: string) => ({
  type: 'postgres',
  url,
  entities,
  migrations,
  synchronize: false,
  installExtensions: false,
  logging: false,
  applicationName: 'tenon',
});

/** A URL that gives statements more time gives it to everything. */
const patienceOf = (url: string): number =>
  Math.max(1, (Number(new URL(url).searchParams.get('query_timeout')) || 0) / ANSWER_TIMEOUT_MS);

/** The pool that serves requests. */
export const createDataSource = (url: string, poolSize = 16): DataSource =>
  cared(url, {
    ...options(url),
    poolErrorHandler: () => undefined, // an idle connection that breaks is replaced; the call that needs one reports
    extra: {
      max: poolSize,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS * patienceOf(url),
      connectMs: CONNECT_TIMEOUT_MS * patienceOf(url),
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 30_000,
      session: SESSION,
    },
  });

/** Does the work of one caller, who does not wait long for the database; the answer is to be called when that is over. */
export const boundWaits =
  (url: string) =>
  (work: () => void): (() => void) =>
    Patience.bound(PATIENCE_MS * patienceOf(url), work);

/** Nobody waits long for a connection that has fallen silent. */
function cared<Given extends { readonly extra: object }>(url: string, given: Given): DataSource {
  const lines = new Lines(DOUBT_MS * patienceOf(url));
  const extra = { Client: TimelyClient, connected: lines.add, keepAlive: true, ...given.extra };
  const source = new DataSource({ ...given, extra } as unknown as DataSourceOptions);
  const initialize = source.initialize.bind(source);
  source.initialize = async () => {
    await initialize();
    const pool = (source.driver as unknown as { master: Pool }).master;
    lines.watch(pool);
    boundConnecting(pool, CONNECTION_TIMEOUT_MS * patienceOf(url));
    return source;
  };
  return source;
}

export const migrationNames: readonly string[] = migrations.map(({ name }) => name);

/** A single connection without time limits, for migrations: all, or those named. */
export const createMigrationSource = (url: string, only = migrationNames): DataSource =>
  cared(url, {
    ...options(url),
    entities: [], // migrations are plain SQL
    migrations: migrations.filter(({ name }) => only.includes(name)),
    extra: { max: 2, connectionTimeoutMillis: CONNECT_TIMEOUT_MS * patienceOf(url) },
  });
