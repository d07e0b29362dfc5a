import type { DatasetRecord } from './dataset-record.js';
import { canonical, isSame } from './json.js';
import {
  blocking,
  info,
  isBlank,
  type Remark,
  type Reviewed,
  type ReviewedDataset,
  specUpdate,
  warning,
} from './review-finding.js';

const FEW_RECORDS = 20;
const FEW_IN_GROUP = 3;
const NAMED = 5;

const path = 'spec.dataset_id';

/** Tells whether the dataset that the spec names can show how good a model is. */
export function* datasetRemarks({ project, dataset }: Reviewed): Generator<Remark> {
  const wanted = project.spec.dataset_id;
  const datasets = `/v1/projects/${project.id}/datasets`;
  if (isBlank(wanted)) {
    const starter = project.spec.starter_id;
    const body = typeof starter === 'string' ? `{ "starter_id": ${JSON.stringify(starter)} }` : '{ "records": […] }';
    yield warning(
      'dataset_missing',
      path,
      'The spec names no dataset, so no model can be measured.',
      `Import a dataset, POST ${datasets} with ${body}, and name it in spec.dataset_id: ${specUpdate(project)}.`,
    );
  } else if (!dataset) {
    yield blocking(
      'dataset_unknown',
      path,
      `The project has no dataset ${JSON.stringify(String(wanted).slice(0, 100))}.`,
      `Name a dataset of this project in spec.dataset_id (GET ${datasets} lists them): ${specUpdate(project)}.`,
    );
  } else {
    yield* stateRemarks(dataset, `${datasets}/${dataset.id}`);
    yield* recordRemarks(dataset.records);
  }
}

function* stateRemarks({ name, state, valid }: ReviewedDataset, url: string): Generator<Remark> {
  if (!valid) {
    yield blocking(
      'dataset_invalid',
      path,
      `The dataset ${JSON.stringify(name)} does not validate: its own \`validation\` lists why.`,
      `Mend the records that GET ${url} lists in validation.findings: PUT ${url}.`,
    );
  } else if (state === 'editable') {
    yield warning(
      'dataset_editable',
      path,
      `The dataset ${JSON.stringify(name)} can still change; only scores on the same frozen records compare.`,
      `Freeze the dataset: POST ${url}/freeze.`,
    );
  }
}

function* recordRemarks(records: readonly DatasetRecord[]): Generator<Remark> {
  const { contradictions, repetitions } = sameInputs(records);
  if (contradictions.length > 0) {
    yield warning(
      'records_contradict',
      path,
      `The same input is expected to give different answers: ${listed(contradictions)}.`,
      'Let one expectation stand for each input: no model can meet two.',
    );
  }
  if (repetitions.length > 0) {
    yield info('records_repeat', path, `The same input and answer count more than once: ${listed(repetitions)}.`);
  }
  if (records.length > 0 && records.length < FEW_RECORDS) {
    const points = (100 / records.length).toFixed(1);
    yield info(
      'records_few',
      path,
      `With ${records.length} of them a single record moves the score by ${points} points.`,
    );
  }
  const small = [...groupSizes(records)].filter(([, size]) => size < FEW_IN_GROUP).map(([group]) => [group]);
  if (small.length > 0) {
    const message = `A score by group says little where a group has fewer than ${FEW_IN_GROUP} records: ${listed(small)}.`;
    yield info('groups_small', path, message);
  }
}

/** Returns the ids of records with the same input: those with different answers, and those with the same one. */
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

/** Names the first of some sets of ids and counts the others. */
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
