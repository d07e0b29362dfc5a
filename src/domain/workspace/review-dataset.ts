import type { DatasetRecord } from './dataset-record.js';
import { canonical, isSame } from './json.js';
import { isBlank, type Remark, type Reviewed, type ReviewedDataset } from './remark.js';

const FEW_RECORDS = 20;
const FEW_IN_GROUP = 3;
const NAMED = 5;

/** Whether the dataset that the spec names can tell how good a model is. */
export function* datasetRemarks({ project, dataset }: Reviewed): Generator<Remark> {
  const path = 'spec.dataset_id';
  const wanted = project.spec.dataset_id;
  const datasets = `/v1/projects/${project.id}/datasets`;
  const update = `PUT /v1/projects/${project.id} with version ${project.version}`;
  if (isBlank(wanted)) {
    const starter = project.spec.starter_id;
    const body = typeof starter === 'string' ? `{ "starter_id": ${JSON.stringify(starter)} }` : '{ "records": […] }';
    yield {
      level: 'warning',
      code: 'dataset_missing',
      path,
      message: 'The spec names no dataset, so no model can be measured.',
      next: `Import a dataset, POST ${datasets} with ${body}, and name it in spec.dataset_id: ${update}.`,
    };
  } else if (!dataset) {
    yield {
      level: 'blocking',
      code: 'dataset_unknown',
      path,
      message: `The project has no dataset ${JSON.stringify(String(wanted).slice(0, 100))}.`,
      next: `Name a dataset of this project in spec.dataset_id (GET ${datasets} lists them): ${update}.`,
    };
  } else {
    yield* stateRemarks(dataset, `${datasets}/${dataset.id}`, path);
    yield* recordRemarks(dataset.records, path);
  }
}

function* stateRemarks({ name, state, valid }: ReviewedDataset, url: string, path: string): Generator<Remark> {
  if (!valid) {
    yield {
      level: 'blocking',
      code: 'dataset_invalid',
      path,
      message: `The dataset ${JSON.stringify(name)} does not validate: its own \`validation\` lists why.`,
      next: `Mend the records that GET ${url} lists in validation.findings: PUT ${url}.`,
    };
  } else if (state === 'editable') {
    yield {
      level: 'warning',
      code: 'dataset_editable',
      path,
      message: `The dataset ${JSON.stringify(name)} can still change; only scores on the same frozen records compare.`,
      next: `Freeze the dataset: POST ${url}/freeze.`,
    };
  }
}

function* recordRemarks(records: readonly DatasetRecord[], path: string): Generator<Remark> {
  const { contradictions, repetitions } = sameInputs(records);
  if (contradictions.length > 0) {
    yield {
      level: 'warning',
      code: 'records_contradict',
      path,
      message: `The same input is expected to give different answers: ${listed(contradictions)}.`,
      next: 'Let one expectation stand for each input: no model can meet two.',
    };
  }
  if (repetitions.length > 0) {
    yield {
      level: 'info',
      code: 'records_repeat',
      path,
      message: `The same input and answer count more than once: ${listed(repetitions)}.`,
    };
  }
  if (records.length > 0 && records.length < FEW_RECORDS) {
    yield {
      level: 'info',
      code: 'records_few',
      path,
      message: `With ${records.length} of them a single record moves the score by ${(100 / records.length).toFixed(1)} points.`,
    };
  }
  const small = [...groupSizes(records)].filter(([, size]) => size < FEW_IN_GROUP).map(([group]) => group);
  if (small.length > 0) {
    yield {
      level: 'info',
      code: 'groups_small',
      path,
      message: `A score by group says little where a group has fewer than ${FEW_IN_GROUP} records: ${listed(small.map((group) => [group]))}.`,
    };
  }
}

/** The ids of records whose inputs are the same: with answers that differ, and with the same one. */
function sameInputs(records: readonly DatasetRecord[]) {
  const byInput = new Map<string, DatasetRecord[]>();
  for (const record of records) {
    const input = canonical(record.input);
    byInput.set(input, [...(byInput.get(input) ?? []), record]);
  }
  const contradictions: string[][] = [];
  const repetitions: string[][] = [];
  for (const same of byInput.values()) {
    if (same.length === 1) continue;
    const agree = same.every(({ expected }) => isSame(expected, same[0]?.expected));
    (agree ? repetitions : contradictions).push(same.map(({ id }) => id));
  }
  return { contradictions, repetitions };
}

function groupSizes(records: readonly DatasetRecord[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { group } of records) if (group !== null) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return sizes;
}

/** Some of them by name, and how many more there are. */
function listed(sets: readonly (readonly string[])[]): string {
  const shown = sets.slice(0, NAMED).map((ids) =>
    ids
      .slice(0, NAMED)
      .map((id) => JSON.stringify(id))
      .join(' and '),
  );
  const more = sets.length > NAMED ? `, and ${sets.length - NAMED} more` : '';
  return shown.join(', ') + more;
}
