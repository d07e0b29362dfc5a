import type { Schemas } from '../../shared/api.js';
import { formatDuration, formatTime } from '../../shared/format.js';
import type { Names } from './names.js';
import { type Span, timesOf } from './times.js';

/** Draws the time of a call from its arrival to its end, one line for each part. */
export function Waterfall({ call, names }: { call: Schemas['Call']; names: Names }) {
  const { spans, total, firstToken } = timesOf(call);
  return (
    <>
      <p class="hint">Arrived {formatTime(call.created_at)}</p>
      <ol class="calls-waterfall">
        {spans.map((span, index) => (
          <li key={index}>
            <span class="calls-span">
              <span>{titleOf(span, names)}</span> <span class="hint">{formatDuration(span.to - span.from)}</span>
            </span>
            <Bar span={span} total={total} />
          </li>
        ))}
      </ol>
      <p class="calls-total">
        {firstToken !== null && `First token after ${formatDuration(firstToken)}, end`}
        {firstToken === null && 'End'} after {formatDuration(total)}
      </p>
    </>
  );
}

function titleOf({ kind, attempt }: Span, names: Names): string {
  if (kind === 'wait') return 'From the arrival to the start';
  if (kind === 'entry') return 'Before the first attempt';
  if (!attempt) return 'Answer, from the first token on';
  return `${names.model(attempt.model)}: ${attempt.outcome.replaceAll('_', ' ')}`;
}

/** A short part stays visible. */
const LEAST = 0.6;

function Bar({ span: { kind, from, to, attempt }, total }: { span: Span; total: number }) {
  const share = (seconds: number) => (total === 0 ? 0 : (seconds / total) * 100);
  const width = Math.max(LEAST, share(to - from));
  const isBad = attempt !== undefined && attempt.outcome !== 'answered';
  return (
    <svg class="calls-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="10" />
      <rect class={isBad ? 'bad' : kind} x={Math.min(share(from), 100 - width)} width={width} height="10" />
    </svg>
  );
}
