import { injectable } from 'inversify';
import { DeleteDataset } from '../../../application/workspace/delete-dataset.js';
import { ForkDataset } from '../../../application/workspace/fork-dataset.js';
import { FreezeDataset } from '../../../application/workspace/freeze-dataset.js';
import { ImportDataset } from '../../../application/workspace/import-dataset.js';
import { ListDatasets } from '../../../application/workspace/list-datasets.js';
import type { FullDataset } from '../../../application/workspace/project-datasets.js';
import { ReadDataset } from '../../../application/workspace/read-dataset.js';
import { ReadProject } from '../../../application/workspace/read-project.js';
import { UpdateDataset } from '../../../application/workspace/update-dataset.js';
import type { Dataset } from '../../../domain/workspace/dataset.js';
import type { Json } from '../../../domain/workspace/json.js';
import type { SentRecords } from '../../../domain/workspace/reading-records.js';
import { type CallOf, type Controller, route } from '../contract.js';
import { paged, pageOf } from '../paging.js';
import { deleted, seconds, secondsOrNull } from '../schemas.js';
import { expectedVersions, saidVersions } from '../versions.js';
import * as contracts from './datasets.contract.js';
import { Rows } from './record-forms.js';

type OfProject = Pick<CallOf<typeof contracts.listDatasets>, 'caller' | 'params'>;
type OfDataset = Pick<CallOf<typeof contracts.readDataset>, 'caller' | 'params'>;

@injectable()
export class DatasetsController implements Controller {
  private readonly projectExists = ({ caller, params }: OfProject) =>
    this.readProject.execute({ by: caller, projectId: params.project_id });
  private readonly exists = (call: OfDataset) => this.readDataset.withoutRecords(named(call));

  readonly routes = [
    route(
      contracts.listDatasets,
      async ({ caller, params, query }) => {
        const input = { by: caller, projectId: params.project_id, page: pageOf(query) };
        const { items, ...page } = paged(await this.listDatasets.execute(input), query);
        return { datasets: items.map(entry), ...page };
      },
      this.projectExists,
    ),
    route(
      contracts.importDataset,
      async ({ caller, params, query, body: { name = query.name, records, starter, starter_id = starter } }) => {
        const given = { name, sent: sent(records), starterId: starter_id ?? '' };
        const input = { ...given, by: caller, projectId: params.project_id };
        return answer(await this.importDataset.execute(input));
      },
      this.projectExists,
    ),
    route(contracts.readDataset, async (call) => answer(await this.readDataset.execute(named(call)))),
    route(
      contracts.updateDataset,
      async ({ body: { version, name, records }, ifMatch, ...call }) => {
        const expected = expectedVersions([version], ifMatch);
        return answer(await this.updateDataset.execute({ ...named(call), name, sent: sent(records), expected }));
      },
      this.exists,
    ),
    route(contracts.deleteDataset, async (call) => {
      await this.deleteDataset.execute({ ...named(call), expected: saidVersions([], call.ifMatch) });
      return deleted(call.params.dataset_id);
    }),
    route(
      contracts.freezeDataset,
      async (call) => {
        const expected = saidVersions([call.body.version], call.ifMatch);
        return answer(await this.freezeDataset.execute({ ...named(call), expected }));
      },
      this.exists,
    ),
    route(
      contracts.forkDataset,
      async (call) => answer(await this.forkDataset.execute({ ...named(call), ...call.body })),
      this.exists,
    ),
  ];

  constructor(
    private readonly listDatasets: ListDatasets,
    private readonly importDataset: ImportDataset,
    private readonly readDataset: ReadDataset,
    private readonly updateDataset: UpdateDataset,
    private readonly deleteDataset: DeleteDataset,
    private readonly freezeDataset: FreezeDataset,
    private readonly forkDataset: ForkDataset,
    private readonly readProject: ReadProject,
  ) {}
}

const named = ({ caller, params }: OfDataset) => ({
  by: caller,
  projectId: params.project_id,
  datasetId: params.dataset_id,
});

const sent = (records: readonly Json[] | Rows | undefined): SentRecords | null =>
  records instanceof Rows ? records : records ? { records } : null;

const entry = (dataset: Dataset) => ({
  id: dataset.id,
  project_id: dataset.projectId,
  name: dataset.name,
  version: dataset.version,
  state: dataset.state,
  record_count: dataset.recordCount,
  content_sha256: dataset.contentSha256,
  validation: { ...dataset.validation, findings: [...dataset.validation.findings] },
  forked_from: dataset.forkedFrom && {
    dataset_id: dataset.forkedFrom.datasetId,
    version: dataset.forkedFrom.version,
  },
  created_by: dataset.createdBy,
  created_at: seconds(dataset.createdAt),
  updated_at: seconds(dataset.updatedAt),
  frozen_at: secondsOrNull(dataset.frozenAt),
});

const answer = ({ dataset, records }: FullDataset) => ({ ...entry(dataset), records: [...records] });
