import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { AccountTable, TeamTable } from './accounts/account.repository.js';
import { CredentialTable } from './accounts/credential.repository.js';
import { InviteTable } from './accounts/invite.repository.js';
import { OutboxTable } from './accounts/mail-outbox.js';
import { MailedTokenTable, SpentSiteTokenTable } from './accounts/mailed-token.repository.js';
import { AlertRuleTable, AlertTable } from './alerts/alert.repository.js';
import { WebhookTable } from './alerts/webhook.repository.js';
import { AuditTable } from './audit/audit.repository.js';
import { ConversationMessageTable, ConversationTable } from './chat/conversation.repository.js';
import { RuntimeConnectionTable } from './chat/runtime-connection.repository.js';
import { DeploymentTable } from './deployments/deployment.repository.js';
import { EvaluationResultTable, EvaluationTable } from './jobs/evaluation.repository.js';
import { JobTable } from './jobs/job.repository.js';
import { TaskView } from './queue/graphile-work-queue.js';
import { isAnswerOverdue } from './storage-errors.js';
import { DatasetContentTable, DatasetTable, DatasetVersionTable } from './workspace/dataset.repository.js';
import { ModelAliasTable, ModelTable, ModelVersionTable } from './workspace/model.repository.js';
import { ProjectTable, ProjectVersionTable } from './workspace/project.repository.js';

export { DataSource };

const entities = [
  AccountTable,
  AlertRuleTable,
  AlertTable,
  AuditTable,
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
/** Lists the migrations of the folder, oldest first. A new file needs no other line. */
const folder = join(__dirname, 'migrations');
const migrations = readdirSync(folder)
  .filter((name) => /^\d+-[a-z0-9-]+\.[jt]s$/.test(name))
  .sort()
  .flatMap((name) => Object.values(require(join(folder, name)) as Record<string, new () => MigrationInterface>));

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

/**
 * Ends a connection on which an answer is overdue. pg would keep it, and the next statement, such as the ROLLBACK of the
 * same transaction, would wait for the missing answer as well.
 */
class LimitedClient extends Client {
  constructor(config: ClientConfig) {
    super(config);
    // A connection may break while nobody listens: without this, that would end the process. The next statement fails.
    this.on('error', () => undefined);
  }

  override query(...given: never[]): never {
    const answer: unknown = super.query(...(given as [never]));
    if (answer instanceof Promise) answer.catch((error: unknown) => this.endIfOverdue(error));
    return answer as never;
  }

  private async endIfOverdue(error: unknown): Promise<void> {
    if (isAnswerOverdue(error)) await this.end().catch(() => undefined);
  }
}

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

/** Connections for migrations, without limits for statements. `only` names the migrations to know. */
export const createMigrationSource = (url: string, only = migrationNames): DataSource =>
  new DataSource({
    ...options(url),
    migrations: migrations.filter(({ name }) => only.includes(name)),
    extra: { max: 2, keepAlive: true, connectionTimeoutMillis: connectionTimeoutMs(url) },
  });
