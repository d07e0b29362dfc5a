import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { core, metrics, resources } from '@opentelemetry/sdk-node';
import type { MetricSnapshot, Sample } from '../prometheus/metric-sources.js';
import { SystemClock } from '../system/adapters.js';
import { steadyMs } from '../system/scheduling.js';

type Data = metrics.MetricData;
type Times = Pick<metrics.DataPoint<number>, 'startTime' | 'endTime'>;

const clock = new SystemClock();

/** Exports the metrics of `/metrics` with the same names and labels. */
export class MetricsBridge implements metrics.MetricProducer {
  private readonly startTime: HrTime = core.millisToHrTime(clock.now().getTime() - steadyMs());

  constructor(private readonly read: () => Promise<readonly MetricSnapshot[]>) {}

  async collect(): Promise<metrics.CollectionResult> {
    const snapshots = await this.read();
    const times = { startTime: this.startTime, endTime: core.millisToHrTime(clock.now().getTime()) };
    const data = snapshots.map((snapshot) => dataOf(snapshot, times)).filter(({ dataPoints }) => dataPoints.length > 0);
    const scopeMetrics = [{ scope: { name: 'tenon' }, metrics: data }];
    return { resourceMetrics: { resource: resources.emptyResource(), scopeMetrics }, errors: [] };
  }
}

function dataOf({ name, help: description, type, values }: MetricSnapshot, times: Times): Data {
  const descriptor = { name, description, unit: '', valueType: ValueType.DOUBLE };
  const common = { descriptor, aggregationTemporality: metrics.AggregationTemporality.CUMULATIVE };
  if (type === 'histogram')
    return { ...common, dataPointType: metrics.DataPointType.HISTOGRAM, dataPoints: histograms(values, times) };
  const finite = values.filter(({ value }) => Number.isFinite(value)); // JSON has no other numbers
  const dataPoints = finite.map(({ value, labels }) => ({ ...times, value, attributes: attributesOf(labels) }));
  if (type === 'gauge') return { ...common, dataPointType: metrics.DataPointType.GAUGE, dataPoints };
  return { ...common, dataPointType: metrics.DataPointType.SUM, isMonotonic: true, dataPoints };
}

const attributesOf = ({ le: _, ...labels }: Sample['labels'] & { readonly le?: unknown } = {}): Attributes => labels;

/** Makes one point from all samples that differ only in `le`. In the samples, a bucket includes all smaller ones. */
function histograms(values: readonly Sample[], times: Times): metrics.DataPoint<metrics.Histogram>[] {
  const points = new Map<string, Sample[]>();
  for (const sample of values) {
    const key = JSON.stringify(attributesOf(sample.labels));
    points.set(key, [...(points.get(key) ?? []), sample]);
  }
  return [...points.values()].map((samples) => {
    const endingIn = (end: string) => samples.find(({ metricName }) => metricName?.endsWith(end))?.value ?? 0;
    const buckets = samples.filter(({ metricName }) => metricName?.endsWith('_bucket'));
    const counts = buckets.map(({ value }, i) => value - (buckets[i - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels }) => Number(labels?.le)).filter((bound) => Number.isFinite(bound));
    const value = { buckets: { boundaries, counts }, sum: endingIn('_sum'), count: endingIn('_count') };
    return { ...times, value, attributes: attributesOf(samples[0]?.labels) };
  });
}
