import type { Schemas } from '../../shared/api.js';
import { formatNumber } from '../../shared/format.js';

type Progressing = Pick<Schemas['Job'], 'progress' | 'status'>;

/** Returns whether a job has reported progress. Work that runs elsewhere may report none. */
export const hasProgress = ({ progress: { done, total } }: Progressing): boolean => done > 0 || total !== null;

export function ProgressOf({ job: { progress, status } }: { job: Progressing }) {
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
