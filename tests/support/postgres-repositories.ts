import { Sealer } from '../../src/infrastructure/crypto/sealer.js';
import { TypeOrmCredentials } from '../../src/infrastructure/typeorm/access/typeorm-credentials.js';
import { TypeOrmAccounts } from '../../src/infrastructure/typeorm/accounts/typeorm-accounts.js';
import { TypeOrmInvites } from '../../src/infrastructure/typeorm/accounts/typeorm-invites.js';
import { TypeOrmMailedTokens } from '../../src/infrastructure/typeorm/accounts/typeorm-mailed-tokens.js';
import { TypeOrmSpentSiteTokens } from '../../src/infrastructure/typeorm/accounts/typeorm-spent-site-tokens.js';
import { TypeOrmTeams } from '../../src/infrastructure/typeorm/accounts/typeorm-teams.js';
import { TypeOrmAlertRules } from '../../src/infrastructure/typeorm/alerts/typeorm-alert-rules.js';
import { TypeOrmAlerts } from '../../src/infrastructure/typeorm/alerts/typeorm-alerts.js';
import { TypeOrmWebhooks } from '../../src/infrastructure/typeorm/alerts/typeorm-webhooks.js';
import { TypeOrmAuditTrail } from '../../src/infrastructure/typeorm/audit/typeorm-audit-trail.js';
import { TypeOrmConversations } from '../../src/infrastructure/typeorm/chat/typeorm-conversations.js';
import { TypeOrmRuntimeConnections } from '../../src/infrastructure/typeorm/chat/typeorm-runtime-connections.js';
import { createDataSource, type DataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmDeployments } from '../../src/infrastructure/typeorm/deployments/typeorm-deployments.js';
import { TypeOrmEvaluations } from '../../src/infrastructure/typeorm/evaluations/typeorm-evaluations.js';
import { TypeOrmJobHistory } from '../../src/infrastructure/typeorm/jobs/typeorm-job-history.js';
import { TypeOrmJobs } from '../../src/infrastructure/typeorm/jobs/typeorm-jobs.js';
import { TypeOrmOutbox } from '../../src/infrastructure/typeorm/mail/typeorm-outbox.js';
import { TypeOrmOneAtATime } from '../../src/infrastructure/typeorm/typeorm-one-at-a-time.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { TypeOrmDatasets } from '../../src/infrastructure/typeorm/workspace/typeorm-datasets.js';
import { TypeOrmModelAliases } from '../../src/infrastructure/typeorm/workspace/typeorm-model-aliases.js';
import { TypeOrmModels } from '../../src/infrastructure/typeorm/workspace/typeorm-models.js';
import { TypeOrmProjects } from '../../src/infrastructure/typeorm/workspace/typeorm-projects.js';
import { freshDatabase, query, type TestDatabase } from './database.js';
import type { Repositories, StoreUnderTest } from './repositories.js';

export function postgresRepositories(unitOfWork: TypeOrmUnitOfWork): Repositories {
  return {
    unitOfWork,
    oneAtATime: new TypeOrmOneAtATime(unitOfWork),
    teams: new TypeOrmTeams(unitOfWork),
    accounts: new TypeOrmAccounts(unitOfWork),
    mailedTokens: new TypeOrmMailedTokens(unitOfWork),
    invites: new TypeOrmInvites(unitOfWork, new Sealer('a secret of the tests', 'invites')),
    spentSiteTokens: new TypeOrmSpentSiteTokens(unitOfWork),
    credentials: new TypeOrmCredentials(unitOfWork),
    outbox: new TypeOrmOutbox(unitOfWork, new Sealer('a secret of the tests', 'outbox')),
    projects: new TypeOrmProjects(unitOfWork),
    models: new TypeOrmModels(unitOfWork),
    datasets: new TypeOrmDatasets(unitOfWork),
    modelAliases: new TypeOrmModelAliases(unitOfWork),
    connections: new TypeOrmRuntimeConnections(unitOfWork),
    conversations: new TypeOrmConversations(unitOfWork),
    deployments: new TypeOrmDeployments(unitOfWork),
    jobs: new TypeOrmJobs(unitOfWork),
    jobHistory: new TypeOrmJobHistory(unitOfWork),
    evaluations: new TypeOrmEvaluations(unitOfWork),
    alertRules: new TypeOrmAlertRules(unitOfWork),
    alerts: new TypeOrmAlerts(unitOfWork),
    auditTrail: new TypeOrmAuditTrail(unitOfWork),
    webhooks: new TypeOrmWebhooks(unitOfWork, new Sealer('a secret of the tests', 'webhooks')),
  };
}

interface PostgresUnderTest extends StoreUnderTest {
  readonly url: string;
  readonly source: DataSource;
}

/** Repositories on a database that lives as long as the surrounding tests. */
export function postgresUnderTest(isolation?: ConstructorParameters<typeof TypeOrmUnitOfWork>[1]): PostgresUnderTest {
  let database: TestDatabase;
  const sources: DataSource[] = [];
  const connect = async (): Promise<DataSource> => {
    const source = await createDataSource(database.url).initialize();
    sources.push(source);
    return source;
  };
  const on = (source: DataSource) => postgresRepositories(new TypeOrmUnitOfWork(source, isolation));

  beforeAll(async () => {
    database = await freshDatabase();
    // Only its owner can do that, and only so can it be emptied.
    await query(database.url, 'ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_append_only');
    await connect();
  });
  afterAll(async () => {
    for (const source of sources) await source.destroy();
    await database.drop();
  });

  return {
    get url() {
      return database.url;
    },
    get source() {
      return sources[0] as DataSource;
    },
    async open() {
      await empty(this.source);
      return on(this.source);
    },
    elsewhere: async () => on(sources[1] ?? (await connect())),
  };
}

/** Written and read without the ORM. */
const PLAIN_TABLES = ['evaluation_results', 'evaluations', 'spent_site_tokens', 'audit_entries'];

/** Quicker than TRUNCATE; references between tables are looked at when the one statement has done all its parts. */
async function empty(source: DataSource): Promise<void> {
  const tables = [...source.entityMetadatas.map(({ tableName }) => tableName), ...PLAIN_TABLES];
  const parts = tables.map((table) => `of_${table} AS (DELETE FROM ${table})`);
  await source.query(`WITH ${parts.join(', ')} SELECT`);
}
