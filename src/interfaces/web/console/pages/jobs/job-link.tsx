import type { Schemas } from '../../shared/api.js';
import { link } from '../../shared/router.js';

/** Returns the name of a job, or its kind if it has no name. */
export const jobName = ({ name, kind }: Pick<Schemas['Job'], 'name' | 'kind'>): string =>
  name ?? kind.charAt(0).toUpperCase() + kind.slice(1);

export const JobLink = ({ job }: { job: Schemas['Job'] }) => <a href={link(`/jobs/${job.id}`)}>{jobName(job)}</a>;
