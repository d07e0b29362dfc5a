import { CompareDatasets } from '../../../src/application/workspace/compare-datasets.js';
import { DatasetContents } from '../../../src/application/workspace/dataset-contents.js';
import { FreezeDataset } from '../../../src/application/workspace/freeze-dataset.js';
import { ProjectDatasets } from '../../../src/application/workspace/project-datasets.js';
import { ProjectModels } from '../../../src/application/workspace/project-models.js';
import { UpdateDataset } from '../../../src/application/workspace/update-dataset.js';
import type { Caller } from '../../../src/domain/accounts/caller.js';
import { Dataset } from '../../../src/domain/workspace/dataset.js';
import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { MemoryAuditRepository } from '../../fakes/audit/memory-audit-repository.js';
import { MemoryStore } from '../../fakes/memory-store.js';
import { MemoryDatasetRepository } from '../../fakes/workspace/memory-dataset-repository.js';
import { MemoryModelRepository } from '../../fakes/workspace/memory-model-repository.js';
import { MemoryProjectRepository } from '../../fakes/workspace/memory-project-repository.js';
import { auditOn } from '../../support/audit.js';
import { aDataset, anAccount, aProject, aRecord, aTeam, at } from '../../support/records.js';

describe('a dataset', () => {
  const team = aTeam();
  const by: Caller = {
    kind: 'session',
    role: 'admin',
    accountId: anAccount(team).id,
    accountName: 'Ada',
    teamId: team.id,
    credentialId: 'ses_1',
    operator: true,
    emailVerified: true,
    lastUsedAt: null,
  };
  const project = aProject(team);
  const records = [aRecord()];
  const contents = new DatasetContents(new Sha256ContentHasher());
  const clock = { now: () => at(9) };

  const setUp = async () => {
    const store = new MemoryStore();
    const [projects, datasets] = [new MemoryProjectRepository(store), new MemoryDatasetRepository(store)];
    const dataset = aDataset(project, records);
    await projects.add(project);
    await datasets.add(dataset, records);
    const found = new ProjectDatasets(new ProjectModels(projects, new MemoryModelRepository(store)), datasets);
    const input = { by, projectId: project.id, datasetId: dataset.id, expected: [1] };
    const audit = auditOn({ unitOfWork: store, auditTrail: new MemoryAuditRepository(store) });
    return { projects, datasets, dataset, found, input, audit };
  };

  it.each(['a new name', 'a freeze'])(
    'acknowledges %s that was made, though it is removed right afterwards',
    async (change) => {
      const { projects, datasets, found, input, audit } = await setUp();
      const replace = datasets.replace.bind(datasets);
      datasets.replace = async (...write) => (await replace(...write)) && projects.remove(project);
      const answer =
        change === 'a freeze'
          ? await new FreezeDataset(found, datasets, audit, clock).execute(input)
          : await new UpdateDataset(found, datasets, contents, clock).execute({ ...input, name: 'New', sent: null });
      expect(answer.records).toEqual(records);
      expect(await datasets.find(project.id, input.datasetId)).toBeNull();
    },
  );

  it('is compared with a version of the same content without its records', async () => {
    const { datasets, dataset, found, input } = await setUp();
    const renamed = Dataset.update(dataset, [1], { name: 'New', content: null, by: 'usr_1', at: at(1) });
    await datasets.replace(dataset, renamed, null);
    const read = jest.spyOn(datasets, 'records');
    const own = { datasetId: dataset.id };
    expect(await new CompareDatasets(found).execute({ ...input, own, base: { ...own, version: 1 } })).toEqual({
      added: [],
      removed: [],
      changed: [],
      unchanged: 1,
      own: { ...own, version: 2 },
      base: { ...own, version: 1 },
    });
    expect(read).not.toHaveBeenCalled();
  });

  it('has at most 16 MB of records, counted in bytes', async () => {
    const text = (length: number) => contents.of([aRecord({ input: 'ä'.repeat(length) })]);
    await expect(text(8 * 1024 * 1024)).rejects.toThrow(/records: .*16 MB/);
    expect((await text(8 * 1024 * 1024 - 100)).recordCount).toBe(1);
  });
});
