import { Sealer } from '../../src/infrastructure/crypto/secrets.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import {
  TypeOrmAccountRepository,
  TypeOrmTeamRepository,
} from '../../src/infrastructure/typeorm/accounts/account.repository.js';
import { TypeOrmCredentialRepository } from '../../src/infrastructure/typeorm/accounts/credential.repository.js';
import { TypeOrmInviteRepository } from '../../src/infrastructure/typeorm/accounts/invite.repository.js';
import {
  TypeOrmMailedTokenRepository,
  TypeOrmSpentSiteTokenRepository,
} from '../../src/infrastructure/typeorm/accounts/mailed-token.repository.js';
import {
  TypeOrmAlertRepository,
  TypeOrmAlertRuleRepository,
} from '../../src/infrastructure/typeorm/alerts/alert.repository.js';
import { TypeOrmWebhookRepository } from '../../src/infrastructure/typeorm/alerts/webhook.repository.js';
import { TypeOrmAuditRepository } from '../../src/infrastructure/typeorm/audit/audit.repository.js';
import { TypeOrmConversationRepository } from '../../src/infrastructure/typeorm/chat/conversation.repository.js';
import { TypeOrmResponseRepository } from '../../src/infrastructure/typeorm/chat/response.repository.js';
import { TypeOrmRuntimeConnectionRepository } from '../../src/infrastructure/typeorm/chat/runtime-connection.repository.js';
import { createDataSource, type DataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmDeploymentRepository } from '../../src/infrastructure/typeorm/deployments/deployment.repository.js';
import { CallBatches } from '../../src/infrastructure/typeorm/jobs/call-batches.js';
import { TypeOrmEvaluationRepository } from '../../src/infrastructure/typeorm/jobs/evaluation.repository.js';
import { TypeOrmJobRepository } from '../../src/infrastructure/typeorm/jobs/job.repository.js';
import { TypeOrmJobHistory } from '../../src/infrastructure/typeorm/jobs/job-history.js';
import { TypeOrmOwnCallRepository } from '../../src/infrastructure/typeorm/jobs/own-call.repository.js';
import { TypeOrmUsageRepository } from '../../src/infrastructure/typeorm/jobs/usage.repository.js';
import { TypeOrmInstanceReports } from '../../src/infrastructure/typeorm/operations/instance-reports.js';
import { TypeOrmStorageMeter } from '../../src/infrastructure/typeorm/operations/storage-meter.js';
import { TypeOrmFeedbackRepository } from '../../src/infrastructure/typeorm/record/feedback.repository.js';
import { TypeOrmKeptCallRepository } from '../../src/infrastructure/typeorm/record/kept-call.repository.js';
import { TypeOrmBudgetRepository } from '../../src/infrastructure/typeorm/spend/budget.repository.js';
import { TypeOrmHoldRepository } from '../../src/infrastructure/typeorm/spend/hold.repository.js';
import { TypeOrmKeyLimitRepository } from '../../src/infrastructure/typeorm/spend/key-limit.repository.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { TypeOrmDatasetRepository } from '../../src/infrastructure/typeorm/workspace/dataset.repository.js';
import {
  TypeOrmModelAliasRepository,
  TypeOrmModelRepository,
} from '../../src/infrastructure/typeorm/workspace/model.repository.js';
import { OldContents } from '../../src/infrastructure/typeorm/workspace/old-contents.js';
import { TypeOrmProjectRepository } from '../../src/infrastructure/typeorm/workspace/project.repository.js';
import { TypeOrmRecordRepository } from '../../src/infrastructure/typeorm/workspace/record.repository.js';
import { RecordTidying } from '../../src/infrastructure/typeorm/workspace/record-tidying.js';
import { VersionChunks } from '../../src/infrastructure/typeorm/workspace/version-chunks.js';
import { VersionLists } from '../../src/infrastructure/typeorm/workspace/version-lists.js';
import { TypeOrmWorkspaceSearch } from '../../src/infrastructure/typeorm/workspace/workspace-search.js';
import { freshDatabase, query, type TestDatabase } from './database.js';
import type { Repositories, StoreUnderTest } from './repositories.js';

export function postgresRepositories(unitOfWork: TypeOrmUnitOfWork): Repositories {
  const batches = new CallBatches(unitOfWork);
  const chunks = new VersionChunks(unitOfWork);
  const lists = new VersionLists(unitOfWork, chunks);
  const old = new OldContents(unitOfWork, lists);
  const versions = [unitOfWork, lists, chunks, old, new RecordTidying(unitOfWork)] as const;
  return {
    unitOfWork,
    instanceReports: new TypeOrmInstanceReports(unitOfWork),
    storageMeter: new TypeOrmStorageMeter(unitOfWork),
    budgets: new TypeOrmBudgetRepository(unitOfWork),
    holds: new TypeOrmHoldRepository(unitOfWork, batches),
    keyLimits: new TypeOrmKeyLimitRepository(unitOfWork),
    teams: new TypeOrmTeamRepository(unitOfWork),
    accounts: new TypeOrmAccountRepository(unitOfWork),
    mailedTokens: new TypeOrmMailedTokenRepository(unitOfWork),
    invites: new TypeOrmInviteRepository(unitOfWork, new Sealer('a secret of the tests', 'invites')),
    spentSiteTokens: new TypeOrmSpentSiteTokenRepository(unitOfWork),
    credentials: new TypeOrmCredentialRepository(unitOfWork),
    projects: new TypeOrmProjectRepository(unitOfWork),
    models: new TypeOrmModelRepository(unitOfWork),
    datasets: new TypeOrmDatasetRepository(...versions),
    records: new TypeOrmRecordRepository(...versions),
    modelAliases: new TypeOrmModelAliasRepository(unitOfWork),
    workspaceSearch: new TypeOrmWorkspaceSearch(unitOfWork),
    connections: new TypeOrmRuntimeConnectionRepository(unitOfWork),
    conversations: new TypeOrmConversationRepository(unitOfWork),
    responses: new TypeOrmResponseRepository(unitOfWork),
    deployments: new TypeOrmDeploymentRepository(unitOfWork),
    jobs: new TypeOrmJobRepository(unitOfWork),
    jobHistory: new TypeOrmJobHistory(unitOfWork, batches),
    ownCalls: new TypeOrmOwnCallRepository(unitOfWork),
    feedback: new TypeOrmFeedbackRepository(unitOfWork),
    keptCalls: new TypeOrmKeptCallRepository(unitOfWork, new SystemClock()),
    usage: new TypeOrmUsageRepository(unitOfWork),
    evaluations: new TypeOrmEvaluationRepository(unitOfWork),
    alertRules: new TypeOrmAlertRuleRepository(unitOfWork),
    alerts: new TypeOrmAlertRepository(unitOfWork),
    auditTrail: new TypeOrmAuditRepository(unitOfWork),
    webhooks: new TypeOrmWebhookRepository(unitOfWork, new Sealer('a secret of the tests', 'webhooks')),
  };
}

interface PostgresUnderTest extends StoreUnderTest {
  readonly url: string;
  readonly source: DataSource;
}

/** Opens repositories on a database that exists during the surrounding tests. */
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
    // With the trigger, no test could empty the table. Only the owner of the table may disable it.
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

/** Deletes all rows in one statement, faster than TRUNCATE does. PostgreSQL checks references only at its end. */
async function empty(source: DataSource): Promise<void> {
  const own = source.entityMetadatas.filter(({ schema }) => !schema);
  const parts = own.map(({ tableName }) => `of_${tableName} AS (DELETE FROM ${tableName})`);
  await source.query(`WITH ${parts.join(', ')} SELECT`);
}
