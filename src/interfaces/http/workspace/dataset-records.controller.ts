import { injectable } from 'inversify';
import { RecordsFromCallsService } from '../../../application/record/records-from-calls.service.js';
import { DatasetService } from '../../../application/workspace/dataset.service.js';
import { DatasetRecordsService } from '../../../application/workspace/dataset-records.service.js';
import { ProjectService } from '../../../application/workspace/project.service.js';
import { InvalidRequest } from '../../../domain/shared/errors.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import { type CallOf, type Controller, type Existence, route, type StreamedResponse } from '../contract.js';
import { csvRows, fileAnswer, jsonLines } from '../files.js';
import { expectedVersions, sentVersions } from '../schemas.js';
import * as contracts from './dataset-records.contract.js';
import { fromCalls } from './from-calls.js';
import { sentRecords } from './record-forms.js';

/** The memory of the records on their way into a file. */
const EXPORT_BYTES = 2 * 1024 * 1024;

@injectable()
export class DatasetRecordsController implements Controller {
  readonly routes = [
    route(contracts.listRecords, async ({ caller, params, query, memory }) => {
      const { limit, cursor, group, version = cursor?.version, ...filter } = query;
      if (cursor && cursor.version !== version) throw new InvalidRequest([{ path: 'cursor', message: OTHER_VERSION }]);
      const page = { offset: cursor?.offset ?? 0, limit };
      const wanted = { ...datasetIn(params), ...filter, version, group: group === '' ? null : group, page, memory };
      const { datasetId, records, next, ...of } = await this.records.list(caller, wanted);
      return {
        dataset_id: datasetId,
        version: of.version,
        records: [...records],
        count: records.length,
        next_cursor: next === null ? null : contracts.cursorOf({ version: of.version, offset: next }),
      };
    }),
    route(contracts.appendRecords, async ({ caller, params, body, ifMatch, signal, memory }) => {
      const expected = sentVersions([body.version], ifMatch);
      const change = { ...datasetIn(params), expected, signal, memory };
      const { dataset, ids, duplicates } = body.from_calls
        ? await this.recordsFromCalls.append(caller, { ...change, fromCalls: fromCalls(body.from_calls) })
        : await this.records.append(caller, { ...change, records: sentRecords(body.records ?? []) });
      return {
        dataset_id: dataset.id,
        version: dataset.version,
        record_count: dataset.recordCount,
        added: [...ids],
        duplicates,
      };
    }),
    route(contracts.updateRecord, async ({ caller, params, body: { version, ...sent }, ifMatch, signal, memory }) => {
      const expected = expectedVersions([version], ifMatch);
      const change = { ...datasetIn(params), recordId: params.record, expected, signal, memory, sent };
      const { dataset, record } = await this.records.change(caller, change);
      return { ...record, dataset_id: dataset.id, version: dataset.version };
    }),
    route(contracts.deleteRecord, async ({ caller, params, body: { version }, ifMatch, signal, memory }) => {
      const expected = expectedVersions([version], ifMatch);
      const removal = { ...datasetIn(params), recordId: params.record, expected, signal, memory };
      const dataset = await this.records.remove(caller, removal);
      return { id: params.record, deleted: true as const, version: dataset.version };
    }),
    route(contracts.exportRecords, (call) => this.file(call)),
  ];

  readonly exists: Existence<'project_id' | 'dataset_id'> = {
    project_id: ({ caller, params }) => this.projects.find(caller, { projectId: params.project_id }),
    dataset_id: ({ caller, params }) => this.datasets.find(caller, datasetIn(params)),
  };

  constructor(
    private readonly records: DatasetRecordsService,
    private readonly recordsFromCalls: RecordsFromCallsService,
    private readonly datasets: DatasetService,
    private readonly projects: ProjectService,
  ) {}

  private async file(call: CallOf<typeof contracts.exportRecords>): Promise<StreamedResponse> {
    const { caller, params, query, memory, signal } = call;
    const { version, format } = query;
    await memory.reserveBytes(EXPORT_BYTES);
    const wanted = { ...datasetIn(params), version, withFields: format === 'csv' };
    const { of, name, records, fields } = await this.records.export(caller, wanted);
    const chunks = format === 'csv' ? recordRows(records, fields) : jsonLines(records);
    return fileAnswer({ name: `${name.slice(0, 100)}-${of.version}`, format, chunks, signal });
  }
}

/** Yields the rows of a CSV file. `names` are the columns after the four that each record has. */
const recordRows = (records: AsyncIterable<readonly DatasetRecord[]>, names: readonly string[]) =>
  csvRows(['id', 'group', 'input', 'expected', ...names], records, ({ id, group, input, expected, fields }) => [
    ...[id, group, input, expected],
    ...names.map((name) => (Object.hasOwn(fields, name) ? (fields[name] ?? null) : null)),
  ]);

const OTHER_VERSION = 'is of another version than `version`';

const datasetIn = (path: { project_id: string; dataset_id: string }) => ({
  projectId: path.project_id,
  datasetId: path.dataset_id,
});
