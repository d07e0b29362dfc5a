import { injectable } from 'inversify';
import { CompareDatasets } from '../../../application/workspace/compare-datasets.js';
import { DatasetHistory } from '../../../application/workspace/dataset-history.js';
import type { DatasetVersionEntry } from '../../../application/workspace/ports.js';
import { ReadDataset } from '../../../application/workspace/read-dataset.js';
import { type CallOf, type Controller, route } from '../contract.js';
import { pagedVersions, versionInPath, versionPageOf } from '../paging.js';
import { seconds } from '../schemas.js';
import * as contracts from './dataset-versions.contract.js';

type OfDataset = Pick<CallOf<typeof contracts.listDatasetVersions>, 'caller' | 'params'>;

@injectable()
export class DatasetVersionsController implements Controller {
  private readonly exists = (call: OfDataset) => this.readDataset.withoutRecords(named(call));

  readonly routes = [
    route(
      contracts.listDatasetVersions,
      async (call) => {
        const found = await this.history.list({ ...named(call), ...versionPageOf(call.query) });
        return pagedVersions(found.map(entry), call.query);
      },
      this.exists,
    ),
    route(contracts.readDatasetVersion, async (call) => {
      const version = versionInPath(call.params.version);
      const found = await this.history.read({ ...named(call), version });
      const { valid, findings } = found.validation;
      return {
        ...entry(found),
        id: found.datasetId,
        project_id: call.params.project_id,
        records: [...found.records],
        validation: { valid, findings: [...findings] },
      };
    }),
    route(
      contracts.compareDatasets,
      async (call) => {
        const { datasetId, ...whose } = named(call);
        const { id = datasetId, version } = call.query.with;
        const base = { datasetId: id, version: version === undefined ? undefined : versionInPath(version) };
        const input = { ...whose, own: { datasetId, version: call.query.version }, base };
        const { own, ...compared } = await this.compareDatasets.execute(input);
        return {
          dataset: side(own),
          with: side(compared.base),
          added: [...compared.added],
          removed: [...compared.removed],
          changed: compared.changed.map((one) => ({ ...one, fields: [...one.fields] })),
          unchanged: compared.unchanged,
        };
      },
      this.exists,
    ),
  ];

  constructor(
    private readonly history: DatasetHistory,
    private readonly compareDatasets: CompareDatasets,
    private readonly readDataset: ReadDataset,
  ) {}
}

const named = ({ caller, params }: OfDataset) => ({
  by: caller,
  projectId: params.project_id,
  datasetId: params.dataset_id,
});

const side = ({ datasetId, version }: { datasetId: string; version: number }) => ({ dataset_id: datasetId, version });

const entry = ({ version, name, recordCount, contentSha256, createdBy, createdAt }: DatasetVersionEntry) => ({
  version,
  name,
  record_count: recordCount,
  content_sha256: contentSha256,
  created_at: seconds(createdAt),
  created_by: createdBy,
});
