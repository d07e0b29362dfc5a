import type { Schemas } from '../../shared/api.js';
import { link } from '../../shared/router.js';

/** Names a job by its own name, or by its kind. */
export const jobName = ({ name, kind }: Pick<Schemas['Job'], 'name' | 'kind'>): string =>
  name ?? kind.charAt(0).toUpperCase() + kind.slice(1);

export const JobLink = ({ job }: { job: Schemas['Job'] }) => <a href={link(`/jobs/${job.id}`)}>{jobName(job)}</a>;
