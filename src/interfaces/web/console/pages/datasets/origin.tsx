import { match } from '../../shared/place.js';
import { link, path } from '../../shared/router.js';
import type { DatasetRecord } from './values.js';

/** Tells from which call or evaluation a record of the open dataset was made. The kept call may be gone. */
export function Origin({ origin }: { origin: DatasetRecord['origin'] }) {
  const project = match('/projects/:project_id/datasets/:dataset_id', path.value)?.project_id;
  if (!origin || !project) return null;
  const { call_id, job_id, record_id } = origin;
  return (
    <p class="hint">
      Made of{' '}
      {call_id ? (
        <a href={link(`/projects/${project}/calls/${call_id}`)}>a call</a>
      ) : (
        <a href={link(record_id ? `/evaluations/${job_id}` : `/jobs/${job_id}`)}>
          {record_id ? `the row ${record_id} of an evaluation` : 'a job'}
        </a>
      )}
    </p>
  );
}
