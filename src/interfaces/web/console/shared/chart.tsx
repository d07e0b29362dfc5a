import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Line {
  readonly name: string;
  /** A value for each time; null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** The number of its colour among those of the design, from 1 to 4. */
  readonly colour?: 1 | 2 | 3 | 4;
}

const HEIGHT = 160;

/** A chart of lines over time. `text` says in words what it shows, for people who cannot see it. */
export function Chart(props: {
  /** Seconds since the epoch, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  format: (value: number) => string;
  text: string;
}) {
  const { times, lines, format, text } = props;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let plot: uPlot | undefined;
    const data = [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(element.clientWidth, lines, format), data, element);
    };
    const observer = new ResizeObserver(() =>
      plot ? plot.setSize({ width: element.clientWidth, height: HEIGHT }) : draw(),
    );
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [times, lines, format]);
  return <div ref={place} class="chart" role="img" aria-label={text} />;
}

function optionsOf(width: number, lines: readonly Line[], format: (value: number) => string): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--ink-soft'),
    font: `11px ${colour('--font')}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, least, most) => [Math.min(0, least ?? 0), Math.max(most ?? 0, 1e-9) * 1.1] } },
    axes: [axis, { ...axis, size: 60, values: (_, ticks) => ticks.map(format) }],
    series: [
      {},
      ...lines.map(({ name, colour: number = 1 }) => ({
        label: name,
        stroke: colour(`--chart-${number}`),
        width: 1.5,
        spanGaps: false,
        points: { size: 4 },
        value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
      })),
    ],
  };
}
