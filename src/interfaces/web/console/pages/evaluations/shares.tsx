import { formatShare } from '../../shared/format.js';
import type { Share } from './summary.js';

interface Bar {
  readonly name: string;
  readonly share: Share;
  readonly tone: 'now' | 'before';
}

export interface Bars {
  readonly title: string;
  readonly bars: readonly Bar[];
}

/** Draws shares as bars with their confidence intervals and numbers. The dashed line is the threshold. */
export function ShareChart({ label, rows, threshold }: { label: string; rows: readonly Bars[]; threshold?: number }) {
  const compared = rows.some(({ bars }) => bars.length > 1);
  return (
    <table class="evaluation-shares">
      <caption class="unseen">{label}</caption>
      <thead>
        <tr>
          <th scope="col">Group</th>
          {compared && <th scope="col">Run</th>}
          <th scope="col" class="evaluation-plot">
            <span class="evaluation-axis">
              <span>0 %</span>
              <span>50 %</span>
              <span>100 %</span>
            </span>
          </th>
          <th scope="col" class="numeric">
            Score
          </th>
          <th scope="col" class="numeric minor">
            95 % interval
          </th>
          <th scope="col" class="numeric minor">
            Right
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.flatMap(({ title, bars }) =>
          bars.map(({ name, share, tone }, index) => (
            <tr key={title + name} class={index > 0 ? 'evaluation-second' : undefined}>
              {index === 0 && (
                <th scope="row" rowSpan={bars.length}>
                  {title}
                </th>
              )}
              {compared && <td>{name}</td>}
              <td class="evaluation-plot">
                <Plot share={share} tone={tone} threshold={threshold} />
              </td>
              <td class="numeric">{formatShare(share.accuracy)}</td>
              <td class="numeric minor">
                {formatShare(share.interval[0] ?? 0)} to {formatShare(share.interval[1] ?? 0)}
              </td>
              <td class="numeric minor">
                {share.right} of {share.count}
              </td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

/** Draws a bar with its interval. The bar is hidden from screen readers, because the numbers are beside it. */
function Plot({ share, tone, threshold }: { share: Share; tone: Bar['tone']; threshold: number | undefined }) {
  const [low = 0, high = 0] = share.interval.map((one) => one * 100);
  return (
    <svg class={`evaluation-bar ${tone}`} viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="20" />
      <rect class="fill" y="3" width={share.accuracy * 100} height="14" />
      <path class="interval" d={`M${low} 10H${high}M${low} 5v10M${high} 5v10`} />
      {threshold !== undefined && <path class="threshold" d={`M${threshold * 100} 0v20`} />}
    </svg>
  );
}
