import type { Schemas } from '../../shared/api.js';
import { formatNumber } from '../../shared/format.js';

/** Shows how far a job is, as a bar while it runs. */
export function ProgressOf({ job: { progress, status } }: { job: Pick<Schemas['Job'], 'progress' | 'status'> }) {
  const { done, total } = progress;
  const words = total === null ? formatNumber(done) : `${formatNumber(done)} of ${formatNumber(total)}`;
  return (
    <span class="jobs-progress">
      {status === 'running' && total !== null && (
        <progress value={done} max={Math.max(total, 1)} aria-label="Progress">
          {words}
        </progress>
      )}
      {words}
    </span>
  );
}
