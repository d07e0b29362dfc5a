import type { ServiceSettings } from '../../../src/application/shared/ports.js';
import { DatasetService } from '../../../src/application/workspace/dataset.service.js';
import { TeamWorkspace } from '../../../src/application/workspace/team-workspace.js';
import type { Caller } from '../../../src/domain/accounts/caller.js';
import { Dataset } from '../../../src/domain/workspace/dataset.js';
import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { auditOn } from '../../support/audit.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aDataset, anAccount, aProject, aRecord, aTeam, at, ids, unlimited } from '../../support/records.js';

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
    await datasets.add(dataset, records);
    const service = new DatasetService(
      new TeamWorkspace(projects, models, datasets),
      repositories.unitOfWork,
      datasets,
      { datasetVersions: 9 } as ServiceSettings,
      { all: async () => [], find: async () => null },
      new Sha256ContentHasher(),
      auditOn(repositories),
      ids,
      clock,
    );
    return { projects, datasets, dataset, service };
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

  it('compares versions with the same content without reading records', async () => {
    const { datasets, dataset, service } = await setUp();
    const renamed = Dataset.update(dataset, [1], { name: 'New', content: null, by: 'usr_1', at: at(1) });
    await datasets.replace(dataset, renamed, null);
    const read = jest.spyOn(datasets, 'records');
    const own = { datasetId: dataset.id };
    const base = { ...own, version: 1 };
    expect(await service.compare(by, { projectId: project.id, own, base, memory: unlimited })).toEqual({
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
