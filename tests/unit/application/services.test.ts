import { ApiKeyService } from '../../../src/application/accounts/api-key.service.js';
import { Authority } from '../../../src/application/accounts/authority.js';
import { InviteService } from '../../../src/application/accounts/invite.service.js';
import { TeamService } from '../../../src/application/accounts/team.service.js';
import { DeploymentService } from '../../../src/application/deployments/deployment.service.js';
import { DeploymentReconciler } from '../../../src/application/deployments/deployment-reconciler.js';
import { EngineModels } from '../../../src/application/deployments/engine-models.js';
import type { CallTracker } from '../../../src/application/jobs/call-tracker.js';
import { CallRemoval } from '../../../src/application/record/call-removal.js';
import { MemoryBudget } from '../../../src/application/shared/memory-budget.js';
import type { ServiceSettings, WorkQueue } from '../../../src/application/shared/ports.js';
import type { BudgetGuard } from '../../../src/application/spend/budget-guard.js';
import { DatasetService } from '../../../src/application/workspace/dataset.service.js';
import { DatasetComparisonService } from '../../../src/application/workspace/dataset-comparison.service.js';
import { DatasetContents } from '../../../src/application/workspace/dataset-content.js';
import { DatasetRecordsService } from '../../../src/application/workspace/dataset-records.service.js';
import { DatasetWrites } from '../../../src/application/workspace/dataset-writes.js';
import { RecordEdit } from '../../../src/application/workspace/record-edit.js';
import { RecordPages } from '../../../src/application/workspace/record-pages.js';
import { TeamWorkspace } from '../../../src/application/workspace/team-workspace.js';
import type { Account } from '../../../src/domain/accounts/account.js';
import type { AccountCaller, Caller } from '../../../src/domain/accounts/caller.js';
import type { Credential } from '../../../src/domain/accounts/credential.js';
import { KeyRestrictions } from '../../../src/domain/accounts/key-restrictions.js';
import { permissions } from '../../../src/domain/accounts/permission.js';
import { Deployment, deploymentLimits } from '../../../src/domain/deployments/deployment.js';
import { Dataset } from '../../../src/domain/workspace/dataset.js';
import { sentList } from '../../../src/domain/workspace/dataset-import.js';
import { CheckedTokens } from '../../../src/infrastructure/crypto/secrets.js';
import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { NoTracer } from '../../../src/infrastructure/system/adapters.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { auditOn } from '../../support/audit.js';
import { query } from '../../support/database.js';
import { addDataset } from '../../support/datasets.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import {
  aDataset,
  aDeployment,
  anAccount,
  anApiKey,
  anInvite,
  aProject,
  aRecord,
  aSession,
  aTeam,
  at,
  contentOf,
  ids,
  unlimited,
} from '../../support/records.js';
import { type Repositories, unlimitedStorage } from '../../support/repositories.js';

describe('Authority', () => {
  const tables = ['accounts', 'credentials', 'invites', 'audit_entries'];
  const clock = new ManualClock(at(1));
  const store = postgresUnderTest();
  let repositories: Repositories;
  let admin: Account;
  let member: Account;
  let session: Credential;
  let caller: AccountCaller;

  beforeEach(async () => {
    repositories = await store.open();
    const team = aTeam();
    await repositories.teams.add(team);
    admin = anAccount(team, { role: 'admin', emailVerifiedAt: at(0) });
    member = anAccount(team);
    const second = anAccount(team, { role: 'admin' });
    session = aSession(admin);
    for (const account of [admin, member, second]) await repositories.accounts.add(account);
    for (const credential of [session, anApiKey(admin, { id: 'key_1' })])
      await repositories.credentials.add(credential);
    await repositories.invites.add(anInvite(team, { id: 'inv_1' }));
    caller = (await repositories.credentials.holder(session.digest, at(1))) as AccountCaller;
  });

  const services = () => {
    const { unitOfWork, accounts, invites, credentials, keyLimits, projects, keptCalls } = repositories;
    const authority = new Authority(credentials, clock);
    const audit = auditOn(repositories, clock);
    const tokens = new CheckedTokens();
    const queue = { enqueue: async () => undefined } as Partial<WorkQueue> as WorkQueue;
    const removal = new CallRemoval(queue, keptCalls, new RecordingLog());
    return {
      keys: new ApiKeyService(unitOfWork, credentials, keyLimits, projects, authority, audit, tokens, ids, clock),
      invites: new InviteService(unitOfWork, invites, accounts, authority, audit, tokens, ids, clock),
      team: new TeamService(unitOfWork, accounts, invites, authority, removal, audit),
    };
  };

  const teamWrites: [string, () => Promise<unknown>][] = [
    ['creating an invite', () => services().invites.create(caller, { email: null, role: 'admin' })],
    ['revoking an invite', () => services().invites.revoke(caller, { id: 'inv_1' })],
    ['changing a role', () => services().team.changeRole(caller, { accountId: member.id, role: 'admin' })],
    ['removing an account', () => services().team.remove(caller, { accountId: member.id })],
  ];
  const keyWrites: [string, () => Promise<unknown>][] = [
    [
      'minting a key',
      () => services().keys.mint(caller, { name: null, lifetimeSeconds: null, restrictions: KeyRestrictions.NONE }),
    ],
    ['changing a key', () => services().keys.change(caller, { id: 'key_1', expected: [1], change: { name: 'CI' } })],
    ['revoking a key', () => services().keys.revoke(caller, { id: 'key_1' })],
  ];

  const refused = async (write: () => Promise<unknown>, code: string) => {
    const rows = () => Promise.all(tables.map((table) => query(store.url, `SELECT * FROM ${table} ORDER BY id`)));
    const before = await rows();
    await expect(write()).rejects.toMatchObject({ code });
    expect(await rows()).toEqual(before);
  };

  const writes = [...teamWrites, ...keyWrites];

  it.each(writes)('allows %s while the caller has the permission', async (_, write) => {
    await expect(write()).resolves.not.toThrow();
  });

  it.each(writes)('refuses %s with a session that has ended or expired meanwhile', async (_, write) => {
    clock.set(session.expiresAt as Date);
    await refused(write, 'unauthenticated').finally(() => clock.set(at(1)));
    await repositories.credentials.remove(session);
    await refused(write, 'unauthenticated');
  });

  it.each(writes)('refuses %s to an account that was removed meanwhile', async (_, write) => {
    await repositories.accounts.remove(admin.id);
    await refused(write, 'unauthenticated');
  });

  it.each(teamWrites)('refuses %s to an account that was demoted meanwhile', async (_, write) => {
    await repositories.accounts.change(admin.id, { role: 'developer' });
    await refused(write, 'forbidden');
  });

  it('confirms the master key, refuses it if a session is required, and refuses a missing caller', async () => {
    const authority = new Authority(repositories.credentials, clock);
    expect(await authority.confirm({ kind: 'master' }, permissions.runJobs)).toEqual({ kind: 'master' });
    await expect(authority.confirm(null, permissions.runJobs)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(authority.confirm({ kind: 'master' }, permissions.manageTeam)).rejects.toMatchObject({
      code: 'session_required',
    });
  });
});

describe('DatasetService', () => {
  const team = aTeam();
  const by: Caller = {
    kind: 'session',
    role: 'admin',
    accountId: anAccount(team).id,
    accountName: 'Ada',
    email: 'ada@example.com',
    alertEmails: false,
    createdAt: at(0),
    teamId: team.id,
    credentialId: 'ses_1',
    operator: true,
    emailVerified: true,
    lastUsedAt: null,
    restrictions: null,
  };
  const project = aProject(team);
  const records = [aRecord()];
  const clock = new ManualClock(at(9));
  const { signal } = new AbortController();
  const changeOf = ({ id, version }: Dataset) => ({
    projectId: project.id,
    datasetId: id,
    expected: [version],
    signal,
    memory: unlimited,
  });

  const store = postgresUnderTest();

  const setUp = async () => {
    const repositories = await store.open();
    const { teams, projects, models, datasets } = repositories;
    await teams.add(team);
    const dataset = aDataset(project, records);
    await projects.add(project);
    await addDataset(repositories, dataset, records);
    const hasher = new Sha256ContentHasher();
    const pages = new RecordPages(repositories.records, datasets, hasher);
    const settings = { datasetRecords: 500, datasetVersions: 9, datasetBytes: 1_000_000 } as ServiceSettings;
    const workspace = new TeamWorkspace(projects, models, datasets);
    const writes = new DatasetWrites(workspace, datasets, unlimitedStorage(repositories), settings, {
      confirm: async () => by,
    } as unknown as Authority);
    const service = new DatasetService(
      workspace,
      datasets,
      repositories.records,
      pages,
      new DatasetContents(hasher, settings),
      writes,
      settings,
      { all: async () => [], find: async () => null },
      auditOn(repositories),
      ids,
      clock,
    );
    const stored = repositories.records;
    const edit = new RecordEdit(stored, pages, new DatasetContents(hasher, settings), hasher, settings);
    const single = new DatasetRecordsService(service, writes, workspace, stored, pages, edit, settings, clock);
    return { projects, datasets, dataset, service, pages, edit, single, records: stored };
  };

  it.each(['an update', 'a freeze'])(
    'returns the result of %s even if the dataset is removed right afterwards',
    async (change) => {
      const { projects, datasets, dataset, service } = await setUp();
      const replace = datasets.replace.bind(datasets);
      datasets.replace = async (...write) => (await replace(...write)) && projects.remove(project);
      const answer =
        change === 'a freeze'
          ? await service.freeze(by, changeOf(dataset))
          : await service.update(by, { ...changeOf(dataset), name: 'New', records: null });
      expect(answer.records).toEqual(records);
      expect(await datasets.find(project.id, dataset.id)).toBeNull();
    },
  );

  it.each(['update', 'freeze'] as const)('gives up a %s that the repository never accepts', async (change) => {
    const { datasets, dataset, service } = await setUp();
    datasets.replace = async () => false;
    const sent = { ...changeOf(dataset), name: 'New', records: null };
    await expect(service[change](by, sent)).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  it.each(['import', 'fork', 'update'] as const)('stores nothing after an %s whose caller is gone', async (change) => {
    const { datasets, dataset, service } = await setUp();
    const ended = { ...changeOf(dataset), signal: AbortSignal.abort(new Error('gone')), records: sentList([{}]) };
    const act =
      change === 'import'
        ? service.import(by, { ...ended, starterId: '' })
        : change === 'fork'
          ? service.fork(by, ended)
          : service.update(by, ended);
    await expect(act).rejects.toThrow('gone');
    expect(await datasets.all({ projectId: project.id }, { limit: 9, after: null })).toEqual([dataset]);
  });

  it('reads the newest version again if a change removes it meanwhile', async () => {
    const { datasets, dataset, service, records: stored } = await setUp();
    const renamed = Dataset.update(dataset, [1], { name: 'New', content: null, by: 'usr_1', at: at(1) });
    const entries = stored.entries.bind(stored);
    jest.spyOn(stored, 'entries').mockImplementationOnce(async (...wanted) => {
      await datasets.replace(dataset, renamed, null);
      await datasets.prune(dataset.id, 2);
      return entries(...wanted);
    });
    const read = await service.read(by, { projectId: project.id, datasetId: dataset.id, memory: unlimited });
    expect(read).toMatchObject({ dataset: { version: 2 }, records });
  });

  it('gives up the draft of a changed record after each lost write', async () => {
    const { datasets, dataset, single, records: stored } = await setUp();
    const replace = datasets.replace.bind(datasets);
    datasets.replace = jest.fn(replace).mockResolvedValueOnce(false);
    const discarded: unknown[] = [];
    const draft = stored.draft.bind(stored);
    stored.draft = async (...of) => {
      const begun = await draft(...of);
      jest.spyOn(begun, 'discard').mockImplementation(async () => void discarded.push(begun));
      return begun;
    };
    const change = {
      ...changeOf(dataset),
      recordId: records[0]?.id as string,
      sent: { expected: 'x'.repeat(300_000) },
    };
    expect((await single.change(by, change)).dataset.version).toBe(2);
    expect(discarded).toHaveLength(1);
  });

  it('finds records by finding and text in a dataset of more records than are allowed now', async () => {
    const { datasets, edit, records: stored } = await setUp();
    const many = Array.from({ length: 501 }, (_, n) => aRecord({ id: `r${n}`, expected: n % 100 ? 'x' : '' }));
    const large = aDataset(project, many);
    await addDataset({ datasets, records: stored }, large, many);
    const of = { datasetId: large.id, version: 1 };
    const wanted = { offset: 1, count: 9, q: 'france', memory: unlimited };
    const entries = await edit.entriesWith(of, 'empty_expected', wanted);
    expect(entries.map(({ id }) => id)).toEqual(['r100', 'r200', 'r300', 'r400', 'r500']);
  });

  it('reserves memory for all that a comparison holds', async () => {
    const { datasets, dataset, service, pages } = await setUp();
    const comparisons = new DatasetComparisonService(service, pages);
    const other = Dataset.update(dataset, [1], { content: contentOf([]), by: 'usr_1', at: at(1) });
    await datasets.replace(dataset, other, null);
    const memory = new MemoryBudget(Number.POSITIVE_INFINITY).open('usr_test');
    const grow = jest.spyOn(memory, 'growBytes');
    const wanted = {
      projectId: project.id,
      own: { datasetId: dataset.id },
      base: { datasetId: dataset.id, version: 1 },
    };
    await comparisons.compare(by, { ...wanted, page: { offset: 0, limit: 9 }, memory });
    expect(grow.mock.calls.map(([bytes]) => bytes)).toEqual([8 * 1024]);
  });

  it('compares versions with the same content without reading records', async () => {
    const { datasets, dataset, service, pages, records: stored } = await setUp();
    const comparisons = new DatasetComparisonService(service, pages);
    const renamed = Dataset.update(dataset, [1], { name: 'New', content: null, by: 'usr_1', at: at(1) });
    await datasets.replace(dataset, renamed, null);
    const read = jest.spyOn(stored, 'entries');
    const own = { datasetId: dataset.id };
    const base = { ...own, version: 1 };
    const page = { offset: 0, limit: 9 };
    expect(await comparisons.compare(by, { projectId: project.id, own, base, page, memory: unlimited })).toEqual({
      counts: { added: 0, removed: 0, changed: 0 },
      next: null,
      added: [],
      removed: [],
      changed: [],
      unchanged: 1,
      own: { ...own, version: 2 },
      base,
    });
    expect(read).not.toHaveBeenCalled();
  });
});

describe('DeploymentService', () => {
  const store = postgresUnderTest();
  let repositories: Repositories;
  let deployments: Repositories['deployments'];
  let service: DeploymentService;
  beforeAll(async () => {
    repositories = await store.open();
    deployments = repositories.deployments;
    service = serviceWith(servers);
  });

  const servers = new MemoryModelServer();
  const clock = new ManualClock();
  const serviceWith = (server: MemoryModelServer) => {
    const reconciler = new DeploymentReconciler(deployments, server, new RecordingLog());
    const authority = new Authority(repositories.credentials, clock);
    const audit = auditOn(repositories);
    const models = new EngineModels(deployments, server);
    const calls = {} as CallTracker;
    const [guard, settings] = [{} as BudgetGuard, {} as ServiceSettings];
    const others = [calls, guard, settings, authority, audit, ids, clock, new NoTracer()] as const;
    return new DeploymentService(deployments, server, reconciler, models, ...others);
  };
  const by = { kind: 'master' } as const;
  const about = { ...Deployment.fields(aDeployment()), prices: null };
  const create = (name: string, signal = new AbortController().signal) =>
    service.create(by, { ...about, name, signal });

  it('limits the number of deployments, including those that still start', async () => {
    for (let n = 1; n < deploymentLimits.deployments; n++) await deployments.add(aDeployment());
    const outcomes = await Promise.allSettled([create('a'), create('b'), create('c')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(servers.ids()).toHaveLength(1);
  });

  it('refuses and stops a deployment if another instance has meanwhile reached the limit', async () => {
    for (const { id } of (await deployments.all()).slice(0, 1)) await deployments.remove(id);
    await servers.close();
    const rival = new MemoryModelServer(undefined, () => deployments.add(aDeployment()));
    const refused = serviceWith(rival).create(by, { ...about, name: 'late', signal: new AbortController().signal });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    expect(rival.ids()).toEqual([]);
    expect(await deployments.count()).toBe(deploymentLimits.deployments);
  });

  it('starts a deployment on every instance, and stops it on every instance after its deletion', async () => {
    for (const { id } of await deployments.all()) await deployments.remove(id);
    const [one, other] = [new MemoryModelServer(), new MemoryModelServer()];
    const reconciler = new DeploymentReconciler(deployments, other, new RecordingLog());
    const service = serviceWith(one);
    const { id } = await service.create(by, { ...about, name: 'shared', signal: new AbortController().signal });
    expect((await serviceWith(other).read(by, { id })).state).toMatchObject({ status: 'starting' });
    await reconciler.applyAll();
    await reconciler.applyAll();
    expect(other.ids()).toEqual([id]);
    await service.delete(by, { id });
    await reconciler.applyAll();
    expect([one.ids(), other.ids()]).toEqual([[], []]);
    await expect(service.read(by, { id })).rejects.toMatchObject({ code: 'not_found' });
  });
});
