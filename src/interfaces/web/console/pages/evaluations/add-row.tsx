import { useState } from 'preact/hooks';
import { AddToDataset, type RecordChoice } from '../../shared/add-to-dataset.js';
import type { Job, Result } from './summary.js';

/** Lets the user add the input of a row to a dataset, for example to try it again with other records. */
export function AddRow({ job, row }: { job: Job; row: Result }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label={`Add ${row.record_id} to a dataset`}
        onClick={() => setOpen(true)}
      >
        Add to a dataset
      </button>
      {open && job.project_id && (
        <AddToDataset project={job.project_id} choices={choicesOf(job, row)} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function choicesOf(
  { id }: Job,
  { input, expected, output, record_id, model_id, group }: Result,
): readonly RecordChoice[] {
  const origin = { job_id: id, record_id, ...(model_id && { model_id }) };
  const of = (words: string, value?: unknown): RecordChoice => ({
    words,
    body: {
      records: [{ input, ...(group !== null && { group }), ...(value !== undefined && { expected: value }), origin }],
    },
  });
  return [
    of('The expected value of the record', expected),
    ...(output === null ? [] : [of('The output of the model', output)]),
    of('None yet'),
  ];
}
