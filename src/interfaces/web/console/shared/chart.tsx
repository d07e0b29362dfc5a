import { useEffect, useRef, useState } from 'preact/hooks';
import { dotsOf, nearest, pathOf, roundUp } from './scale.js';

export interface Line {
  readonly name: string;
  /** A value for each time. null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** The number of its colour in the design, from 1 to 4. */
  readonly colour?: 1 | 2 | 3 | 4;
}

const HEIGHT = 150;
const LEFT = 56;
const BOTTOM = 20;
const TOP = 8;
/** The width of a time label below the chart. */
const TIME_WIDTH = 90;

const DAY_S = 86_400;
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** Draws a chart of lines over time. `text` describes the chart for people who cannot see it. */
export function Chart(props: {
  /** Seconds since the epoch, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  format: (value: number) => string;
  text: string;
}) {
  const { times, lines, format, text } = props;
  const place = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, point] = useState<number | null>(null);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);

  const [first = 0, last = 1] = [times[0], times.at(-1)];
  const top = roundUp(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const x = (time: number) => LEFT + ((time - first) / Math.max(last - first, 1)) * (width - LEFT - 4);
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const named = (time: number) => (last - first > DAY_S ? day : hour).format(time * 1000);
  const shown = Math.max(Math.min(Math.floor((width - LEFT) / TIME_WIDTH), 6), 1);
  const below = Array.from({ length: shown }, (_, index) => first + ((last - first) * (index + 0.5)) / shown);
  const onPointerMove = (event: PointerEvent) => {
    const share = (event.offsetX - LEFT) / Math.max(width - LEFT - 4, 1);
    point(times.length > 0 ? nearest(times, first + share * (last - first)) : null);
  };

  return (
    <figure ref={place} class="chart">
      <svg
        role="img"
        aria-label={text}
        width={width}
        height={HEIGHT}
        onPointerMove={onPointerMove}
        onPointerLeave={() => point(null)}
      >
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line class="chart-grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        {below.map((time) => (
          <text key={time} x={x(time)} y={HEIGHT - 4} text-anchor="middle">
            {named(time)}
          </text>
        ))}
        {pointed !== null && times[pointed] !== undefined && (
          <line class="chart-pointed" x1={x(times[pointed])} x2={x(times[pointed])} y1={TOP} y2={HEIGHT - BOTTOM} />
        )}
        {lines.toReversed().map(({ name, values, colour = 1 }) => {
          const points = values.map((value, index) =>
            value === null ? null : ([x(times[index] ?? first), y(value)] as const),
          );
          return (
            <g key={name} class={`chart-line chart-${colour}`}>
              <path d={pathOf(points)} />
              <path class="chart-dots" d={dotsOf(points)} />
            </g>
          );
        })}
      </svg>
      <figcaption>
        {pointed !== null && times[pointed] !== undefined && <span>{named(times[pointed])}</span>}
        {lines.map(({ name, values, colour = 1 }) => (
          <span key={name}>
            <i class={`chart-key chart-${colour}`} />
            {name} {pointed !== null && <b>{valueAt(values, pointed, format)}</b>}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function valueAt(values: Line['values'], index: number, format: (value: number) => string): string {
  const value = values[index] ?? null;
  return value === null ? '–' : format(value);
}
