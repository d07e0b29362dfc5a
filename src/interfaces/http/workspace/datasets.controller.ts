import { injectable } from 'inversify';
import { DatasetService, type FullDataset } from '../../../application/workspace/dataset.service.js';
import {
  type DatasetComparison,
  DatasetComparisonService,
} from '../../../application/workspace/dataset-comparison.service.js';
import type { DatasetVersionEntry } from '../../../application/workspace/ports.js';
import { ProjectService } from '../../../application/workspace/project.service.js';
import type { VersionOf } from '../../../application/workspace/record-pages.js';
import { InvalidRequest } from '../../../domain/shared/errors.js';
import type { Dataset } from '../../../domain/workspace/dataset.js';
import type { SentRecords } from '../../../domain/workspace/dataset-import.js';
import type { Validation } from '../../../domain/workspace/dataset-validation.js';
import { answerFrom, deleted, hidden, paged } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { numberPageOf, onePage, pageOf, versionInPath } from '../paging.js';
import { expectedVersions, sentVersions } from '../schemas.js';
import { compareDatasets, comparisonCursor } from './dataset-comparison.contract.js';
import { cursorOf } from './dataset-records.contract.js';
import * as contracts from './datasets.contract.js';
import { sentRecords } from './record-forms.js';

@injectable()
export class DatasetsController implements Controller {
  readonly routes = [
    route(contracts.listDatasets, async ({ caller, params, query }) => {
      const found = await this.datasets.list(caller, { projectId: params.project_id, q: query.q, page: pageOf(query) });
      return paged('datasets', onePage(found, query), datasetEntry);
    }),
    route(contracts.importDataset, async ({ caller, params, query, body, signal, memory }) => {
      const { name = query.name, starter, starter_id = starter ?? '' } = body;
      const sent = { name, records: optionalRecords(body.records), map: query.map };
      const draft = { projectId: params.project_id, starterId: starter_id, ...sent };
      return datasetAnswer(await this.datasets.import(caller, { ...draft, signal, memory }));
    }),
    route(contracts.readDataset, async ({ caller, params, memory }) =>
      datasetAnswer(await this.datasets.read(caller, { ...datasetIn(params), memory })),
    ),
    route(contracts.updateDataset, async ({ caller, params, body, ifMatch, signal, memory }) => {
      const expected = expectedVersions([body.version], ifMatch);
      const sent = { name: body.name, records: optionalRecords(body.records) };
      const input = { ...datasetIn(params), expected, signal, memory, ...sent };
      return datasetAnswer(await this.datasets.update(caller, input));
    }),
    route(contracts.deleteDataset, ({ caller, params, ifMatch, signal }) => {
      const expected = sentVersions([], ifMatch);
      return deleted(params.dataset_id, this.datasets.delete(caller, { ...datasetIn(params), expected, signal }));
    }),
    route(contracts.freezeDataset, async ({ caller, params, body, ifMatch, signal, memory }) => {
      const expected = sentVersions([body.version], ifMatch);
      return datasetAnswer(await this.datasets.freeze(caller, { ...datasetIn(params), expected, signal, memory }));
    }),
    route(contracts.forkDataset, async ({ caller, params, body, signal, memory }) =>
      datasetAnswer(await this.datasets.fork(caller, { ...datasetIn(params), name: body.name, signal, memory })),
    ),
    route(contracts.listDatasetVersions, async ({ caller, params, query }) => {
      const found = await this.datasets.versions(caller, { ...datasetIn(params), page: numberPageOf(query) });
      return paged('versions', onePage(found, query), versionEntry);
    }),
    route(contracts.readDatasetVersion, async ({ caller, params, memory }) => {
      const wanted = { ...datasetIn(params), version: versionInPath(params.version), memory };
      const { version, records } = await this.datasets.version(caller, wanted);
      return answerFrom(contracts.readDatasetVersion.answer, version, {
        id: params.dataset_id,
        project_id: params.project_id,
        records: [...records],
        next_cursor: nextCursor(version.version, version.recordCount, records),
        validation: validationAnswer(version.validation),
        dataset_id: hidden,
        bytes: hidden,
      });
    }),
    route(compareDatasets, async ({ caller, params: { project_id, dataset_id }, query, memory }) => {
      const { cursor } = query;
      const { id = dataset_id, version: named } = query.with;
      const { version: ownVersion = cursor?.own } = query;
      const baseVersion = named === undefined ? cursor?.base : versionInPath(named);
      if (cursor && (cursor.own !== ownVersion || cursor.base !== baseVersion))
        throw new InvalidRequest([{ path: 'cursor', message: 'is of other versions than `version` and `with`' }]);
      const own = { datasetId: dataset_id, version: ownVersion };
      const base = { datasetId: id, version: baseVersion };
      const page = { offset: cursor?.offset ?? 0, limit: query.limit };
      const comparison = await this.comparisons.compare(caller, { projectId: project_id, own, base, page, memory });
      return {
        dataset: atVersion(comparison.own),
        with: atVersion(comparison.base),
        counts: comparison.counts,
        added: [...comparison.added],
        removed: [...comparison.removed],
        changed: comparison.changed.map((one) => ({ ...one, fields: [...one.fields] })),
        unchanged: comparison.unchanged,
        next_cursor: comparison.next === null ? null : comparisonCursorOf(comparison, comparison.next),
      };
    }),
  ];

  readonly exists: Existence<'project_id' | 'dataset_id'> = {
    project_id: ({ caller, params }) => this.projects.find(caller, { projectId: params.project_id }),
    dataset_id: ({ caller, params }) => this.datasets.find(caller, datasetIn(params)),
  };

  constructor(
    private readonly datasets: DatasetService,
    private readonly comparisons: DatasetComparisonService,
    private readonly projects: ProjectService,
  ) {}
}

const datasetIn = (path: { project_id: string; dataset_id: string }) => ({
  projectId: path.project_id,
  datasetId: path.dataset_id,
});

const comparisonCursorOf = ({ own, base }: Pick<DatasetComparison, 'own' | 'base'>, offset: number): string =>
  comparisonCursor({ own: own.version, base: base.version, offset });

const optionalRecords = (records: Parameters<typeof sentRecords>[0] | undefined): SentRecords | null =>
  records ? sentRecords(records) : null;

const datasetEntry = (dataset: Dataset) =>
  answerFrom(contracts.listDatasets.answer.shape.datasets.element, dataset, {
    forked_from: dataset.forkedFrom && atVersion(dataset.forkedFrom),
    validation: validationAnswer(dataset.validation),
    updated_by: hidden,
    bytes: hidden,
  });

const datasetAnswer = ({ dataset, records }: FullDataset) => ({
  ...datasetEntry(dataset),
  content_sha256: dataset.contentSha256,
  records: [...records],
  next_cursor: nextCursor(dataset.version, dataset.recordCount, records),
});

const nextCursor = (version: number, count: number, { length: offset }: readonly unknown[]): string | null =>
  offset < count ? cursorOf({ version, offset }) : null;

const versionEntry = (entry: DatasetVersionEntry) =>
  answerFrom(contracts.listDatasetVersions.answer.shape.versions.element, entry, { dataset_id: hidden });

const validationAnswer = ({ valid, count, findings }: Validation) => ({ valid, count, findings: [...findings] });

const atVersion = ({ datasetId, version }: VersionOf) => ({ dataset_id: datasetId, version });
