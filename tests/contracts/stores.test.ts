import type { InstanceRegistry } from '../../src/application/jobs/ports.js';
import type { Invite } from '../../src/domain/accounts/invite.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { CheckedTokens, Sealer } from '../../src/infrastructure/crypto/secrets.js';
import { TypeOrmInviteRepository } from '../../src/infrastructure/typeorm/accounts/invite.repository.js';
import { TypeOrmWebhookRepository } from '../../src/infrastructure/typeorm/alerts/webhook.repository.js';
import { createDataSource, type DataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmInstanceRegistry } from '../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { gate } from '../support/barrier.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { addDataset } from '../support/datasets.js';
import { postgresRepositories, postgresUnderTest } from '../support/postgres-repositories.js';
import { aDataset, anAccount, anInvite, aRecord, aReport, aTeam, at, aWebhook } from '../support/records.js';
import { stocked } from '../support/repositories.js';
import { accountsContract } from './accounts/accounts.contract.js';
import { credentialsContract } from './accounts/credentials.contract.js';
import { invitesContract } from './accounts/invites.contract.js';
import { mailedTokensContract } from './accounts/mailed-tokens.contract.js';
import { spentSiteTokensContract } from './accounts/spent-site-tokens.contract.js';
import { teamsContract } from './accounts/teams.contract.js';
import { alertsContract } from './alerts/alerts.contract.js';
import { auditTrailContract } from './audit/audit-trail.contract.js';
import { conversationsContract } from './chat/conversations.contract.js';
import { responsesContract } from './chat/responses.contract.js';
import { runtimeConnectionsContract } from './chat/runtime-connections.contract.js';
import { deploymentsContract } from './deployments/deployments.contract.js';
import { evaluationsContract } from './jobs/evaluations.contract.js';
import { instanceRegistryContract } from './jobs/instance-registry.contract.js';
import { jobHistoryContract } from './jobs/job-history.contract.js';
import { jobsContract } from './jobs/jobs.contract.js';
import { ownCallsContract } from './jobs/own-calls.contract.js';
import { usageContract } from './jobs/usage.contract.js';
import { instanceReportsContract } from './operations/instance-reports.contract.js';
import { storageMeterContract } from './operations/storage-meter.contract.js';
import { feedbackContract } from './record/feedback.contract.js';
import { keptCallsContract } from './record/kept-calls.contract.js';
import { locksContract } from './shared/locks.contract.js';
import { addedUnderCap, countedUp, unitOfWorkContract } from './shared/unit-of-work.contract.js';
import { budgetsContract } from './spend/budgets.contract.js';
import { keyLimitsContract } from './spend/key-limits.contract.js';
import { datasetsContract } from './workspace/datasets.contract.js';
import { modelAliasesContract } from './workspace/model-aliases.contract.js';
import { modelsContract } from './workspace/models.contract.js';
import { projectsContract } from './workspace/projects.contract.js';
import { recordsContract } from './workspace/records.contract.js';

const contracts = [
  accountsContract,
  alertsContract,
  auditTrailContract,
  budgetsContract,
  keyLimitsContract,
  conversationsContract,
  credentialsContract,
  datasetsContract,
  deploymentsContract,
  evaluationsContract,
  feedbackContract,
  instanceReportsContract,
  invitesContract,
  jobHistoryContract,
  jobsContract,
  locksContract,
  mailedTokensContract,
  modelAliasesContract,
  modelsContract,
  ownCallsContract,
  projectsContract,
  keptCallsContract,
  recordsContract,
  responsesContract,
  runtimeConnectionsContract,
  spentSiteTokensContract,
  storageMeterContract,
  teamsContract,
  unitOfWorkContract,
  usageContract,
];

/** Runs the suites of the repositories in one PostgreSQL database. */
const postgres = postgresUnderTest();
for (const contract of contracts) contract('PostgreSQL', postgres);

describe('Webhooks in PostgreSQL', () => {
  it('hide URL and secret from readers of the database', async () => {
    const { webhooks } = await postgres.open();
    const webhook = aWebhook({ url: 'https://hooks.example.com/in?key=private' });
    await webhooks.add(webhook, 'whsec_c2VjcmV0');
    const [row] = await query<{ webhook: string }>(postgres.url, 'SELECT webhooks::text AS webhook FROM webhooks');
    const fields = row?.webhook.split(/[(),"]/) ?? [];
    const readable = [
      row?.webhook,
      ...fields.map((field) => Buffer.from(field, 'base64url').toString('latin1')),
    ].join();
    expect(readable).toContain(webhook.id);
    for (const secret of ['hooks.example.com', 'private', 'c2VjcmV0', 'secret']) expect(readable).not.toContain(secret);
  });

  it('that were sealed with another secret are listed without URL, cannot be opened, and can be removed', async () => {
    const { webhooks } = await postgres.open();
    const webhook = aWebhook();
    await webhooks.add(webhook, 'whsec_1');
    const other = new TypeOrmWebhookRepository(
      new TypeOrmUnitOfWork(postgres.source),
      new Sealer('another secret', 'webhooks'),
    );
    expect(await other.all()).toEqual([{ ...webhook, url: '' }]);
    await expect(other.open(webhook.id)).rejects.toThrow('SERVICE_SECRET');
    expect(await other.remove(webhook.id)).toBe(true);
  });
});

describe('InstanceReports of PostgreSQL', () => {
  it('forgets an instance that has not reported for 15 s, by the clock of the database', async () => {
    const { instanceReports } = await postgres.open();
    for (const number of [1, 2, 3]) await instanceReports.save(aReport({ number, since: at(number) }));
    const age = (number: number, seconds: number) =>
      query(postgres.url, 'UPDATE instances SET reported_at = now() - make_interval(secs => $2) WHERE number = $1', [
        number,
        seconds,
      ]);
    await age(1, 15);
    await age(2, 12);
    const numbers = async () => (await instanceReports.living(null)).map(({ number }) => number);
    expect(await numbers()).toEqual([2, 3]);
    expect([...(await instanceReports.numbers())].sort()).toEqual([1, 2, 3]);
    await instanceReports.save(aReport({ number: 1 }));
    expect(await numbers()).toEqual([1, 2, 3]);
  });
});

describe('Records in PostgreSQL', () => {
  it('that cannot be removed do not stop the removal of others', async () => {
    const stock = await stocked(postgres);
    const [stuck, other] = [aDataset(stock.project, []), aDataset(stock.project, [])];
    for (const dataset of [stuck, other]) await addDataset(stock, dataset, [aRecord()]);
    const numbers = (await stock.records.entries(other.id, 1, { offset: 0, count: 1 })) ?? [];
    await query(
      postgres.url,
      `CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stuck'; END $$;
       CREATE TRIGGER refused BEFORE DELETE ON dataset_records FOR EACH ROW
         WHEN (OLD.dataset_id = '${stuck.id}') EXECUTE FUNCTION refused()`,
    );
    try {
      for (const dataset of [stuck, other]) await stock.datasets.remove(dataset);
      await expect(stock.records.tidy()).rejects.toThrow('stuck');
      while (await stock.records.tidy());
      expect(await stock.records.read(other.id, numbers)).toEqual([]);
      await expect(stock.records.tidy()).rejects.toThrow('stuck');
    } finally {
      await query(postgres.url, 'DROP FUNCTION refused CASCADE');
    }
  });
});

describe("PostgreSQL's table of audit entries", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
    await query(
      database.url,
      `INSERT INTO audit_entries (id, created_at, actor_kind, action, object_id, details)
       VALUES ('aud_1', now(), 'command_line', 'database.migrated', 'tenon', '{}')`,
    );
  });
  afterAll(() => database.drop());

  it.each([
    "UPDATE audit_entries SET action = 'project.deleted'",
    "UPDATE audit_entries SET action = 'project.deleted' WHERE false",
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    "INSERT INTO audit_entries SELECT * FROM audit_entries ON CONFLICT (id) DO UPDATE SET object_name = 'other'",
  ])('refuses: %s', async (statement) => {
    await expect(query(database.url, statement)).rejects.toThrow('audit_entries is append-only');
    const kept = await query(database.url, 'SELECT id, action, object_name FROM audit_entries');
    expect(kept).toEqual([{ id: 'aud_1', action: 'database.migrated', object_name: null }]);
  });
});

describe('InviteRepository of PostgreSQL', () => {
  const { token, digest } = new CheckedTokens().issue('invite');
  let invite: Invite;

  beforeEach(async () => {
    const { teams, invites } = await postgres.open();
    const team = aTeam();
    await teams.add(team);
    invite = anInvite(team, { token, digest });
    await invites.add(invite);
  });

  it('hides the tokens from readers of the database', async () => {
    const { invites } = await postgres.elsewhere();
    for (const status of ['pending', 'redeemed'] as const) {
      await invites.save({ ...invite, status });
      const rows = await query<{ invites: string }>(postgres.url, 'SELECT invites::text FROM invites');
      const text = rows.map((row) => row.invites).join('\n');
      expect(text).toContain(digest);
      const fields = text.split(/[(),"\s]/);
      const decoded = (['base64url', 'hex'] as const).flatMap((form) =>
        fields.map((field) => Buffer.from(field, form).toString('latin1')),
      );
      for (let start = 0; start + 8 <= token.length; start++) {
        const part = token.slice(start, start + 8);
        for (const form of [text, ...decoded]) expect(form).not.toContain(part);
      }
      for (const field of fields) expect(new CheckedTokens().read(field)).toBeNull();
    }
  });

  it('returns a token only with the secret that sealed it', async () => {
    const sealedBy = (secret: string) =>
      new TypeOrmInviteRepository(new TypeOrmUnitOfWork(postgres.source), new Sealer(secret, 'invites'));
    expect(await sealedBy('a secret of the tests').byDigest(digest)).toEqual(invite);
    const stranger = sealedBy('another secret');
    const without = { ...invite, token: '' };
    expect(await stranger.byDigest(digest)).toEqual(without);
    expect(await stranger.find(invite.teamId, invite.id)).toEqual(without);
    expect(await stranger.pending(invite.teamId, at(1))).toEqual([without]);
  });

  it('does not return a sealed token that was copied into the row of another invite', async () => {
    const { invites } = await postgres.elsewhere();
    const second = anInvite({ ...aTeam(), id: invite.teamId });
    await invites.add(second);
    await query(postgres.url, 'UPDATE invites SET sealed_token = (SELECT sealed_token FROM invites WHERE id = $1)', [
      invite.id,
    ]);
    expect(await invites.byDigest(digest)).toEqual(invite);
    expect(await invites.byDigest(second.digest)).toEqual({ ...second, token: '' });
  });
});

describe('SpentSiteTokenRepository of PostgreSQL', () => {
  it('keeps no rows of expired tokens', async () => {
    const { spentSiteTokens } = await postgres.open();
    for (let token = 0; token < 5; token++) await spentSiteTokens.spend(`short ${token}`, at(60), at(0));
    await spentSiteTokens.spend('long', at(120), at(0));
    await spentSiteTokens.spend('late', at(60), at(60));
    expect(await query(postgres.url, 'SELECT jti, expires_at FROM spent_site_tokens')).toEqual([
      { jti: 'long', expires_at: at(120) },
    ]);
  });
});

describe('UnitOfWork.locked of PostgreSQL', () => {
  it('takes the lock from a holder that stops in the middle of its work', async () => {
    const [here, elsewhere] = [await postgres.open(), await postgres.elsewhere()];
    const { opened: inside, open: entered } = gate();
    const { opened: goingOn, open: goOn } = gate();
    const stuck = here.unitOfWork.locked('line', async () => {
      entered();
      await goingOn;
      return here.jobs.instances();
    });
    stuck.catch(() => undefined);
    await inside;
    await elsewhere.unitOfWork.locked('line', async () => undefined);
    goOn();
    await expect(stuck).rejects.toThrow();
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('UnitOfWork of PostgreSQL', () => {
  it('gives up a unit of work when every attempt conflicts with another transaction', async () => {
    const { unitOfWork, teams, accounts } = await postgres.open();
    const elsewhere = await postgres.elsewhere();
    const team = aTeam();
    const account = anAccount(team);
    await teams.add(team);
    await accounts.add(account);
    let attempts = 0;
    const loses = unitOfWork.run(async () => {
      await accounts.byId(account.id);
      await elsewhere.accounts.change(account.id, { name: `changed ${++attempts} times` });
      await accounts.change(account.id, { name: 'never' });
    });
    await expect(loses).rejects.toThrow(StorageUnavailable);
    expect((await accounts.byId(account.id))?.name).toBe(`changed ${attempts} times`);
  });
});

describe('UnitOfWork.locked in a database with another default isolation', () => {
  it('shows the holder of a lock everything that was committed before', async () => {
    const url = new URL(postgres.url);
    url.searchParams.set('options', '-c default_transaction_isolation=serializable');
    const source = await createDataSource(url.href).initialize();
    const unitOfWork = new TypeOrmUnitOfWork(source);
    const isolation = () => unitOfWork.query('SHOW transaction_isolation');
    const found = await unitOfWork.locked('line', isolation);
    expect(found).toEqual([{ transaction_isolation: 'read committed' }]);
    await source.destroy();
  });
});

/** Proves that the tests of the unit of work notice an isolation that is too weak. */
describe('UnitOfWork with the isolation read committed', () => {
  const weaker = async () => {
    await postgres.open();
    return postgresRepositories(new TypeOrmUnitOfWork(postgres.source, 'READ COMMITTED'));
  };

  it('loses updates', async () => {
    expect(await countedUp(await weaker())).toBe(1);
  });

  it('lets every unit of work add an account when all of them counted none', async () => {
    expect(await addedUnderCap(await weaker())).toBe(6);
  });
});

describe('on PostgreSQL', () => {
  const sources: DataSource[] = [];
  const instances: InstanceRegistry[] = [];

  afterAll(async () => {
    for (const instance of instances) await instance.leave();
    for (const source of sources) await source.destroy();
  });

  instanceRegistryContract('PostgreSQL', {
    instance: async () => {
      const source = await createDataSource(postgres.url, 3).initialize();
      const instance = new TypeOrmInstanceRegistry(source);
      sources.push(source);
      instances.push(instance);
      return instance;
    },
    cut: async (instance) => {
      const number = await instance.own();
      // Other tests hold locks with the same instance numbers in other databases of the server.
      const holders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await query(postgres.url, `SELECT pg_terminate_backend(pid, 5000) FROM (${holders}) holder`, [number]);
    },
  });
});
