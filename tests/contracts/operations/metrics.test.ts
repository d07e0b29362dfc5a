import { backlogMetrics, gauge, type MetricSource } from '../../../src/infrastructure/prometheus/metric-sources.js';
import { PrometheusMetrics } from '../../../src/infrastructure/prometheus/prometheus-metrics.js';
import { MemoryMetrics } from '../../fakes/operations/memory-metrics.js';
import { metricsContract } from './metrics.contract.js';

metricsContract('memory', () => {
  let failing = false;
  const failure = () => {
    if (failing) throw new Error('it is not there');
    return 2;
  };
  return {
    metrics: new MemoryMetrics({ tenon_one: () => 1, tenon_two: failure }),
    gauges: ['tenon_one', 'tenon_two'],
    fail: () => {
      failing = true;
    },
  };
});

const outcomes: Record<string, () => never | Promise<never>> = {
  throw: () => {
    throw new Error('it is not there');
  },
  'never answer': () => new Promise<never>(() => undefined),
};
describe.each(Object.keys(outcomes))('with sources that %s', (name) => {
  metricsContract('Prometheus', () => {
    let failing = false;
    const sources: MetricSource[] = [
      { collect: () => [gauge('tenon_one', 'One.', 1)] },
      { collect: async () => (failing ? outcomes[name]?.() : [gauge('tenon_two', 'Two.', 2)]) as never },
    ];
    return {
      metrics: new PrometheusMetrics(sources),
      gauges: ['tenon_one', 'tenon_two'],
      fail: () => {
        failing = true;
      },
    };
  });
});

describe('Metrics of Prometheus', () => {
  it('ask a source that has not answered only once', async () => {
    let asked = 0;
    const collect = () => {
      asked++;
      return new Promise<never>(() => undefined);
    };
    const metrics = new PrometheusMetrics([{ collect }]);
    await Promise.all([metrics.read(), metrics.read()]);
    await metrics.read();
    expect(asked).toBe(1);
  });

  it('say that the database is out of reach', async () => {
    const metrics = new PrometheusMetrics([backlogMetrics(async () => Promise.reject(new Error('no database')))]);
    expect(await metrics.read()).toContain('\ntenon_database_up 0\n');
  });

  it('count requests by method, route and status', async () => {
    const metrics = new PrometheusMetrics([]);
    const [first, second] = [metrics.began(), metrics.began()];
    first({ method: 'GET', route: '/v1/projects/{project_id}', status: '200' });
    metrics.refused('auth');
    const text = await metrics.read();
    second({ method: 'GET', route: 'unknown', status: '404' });
    expect(text).toContain('tenon_http_requests_in_flight 1\n');
    expect(text).toContain(
      'tenon_http_requests_total{method="GET",route="/v1/projects/{project_id}",status="200"} 1\n',
    );
    expect(text).toContain(
      'tenon_http_request_duration_seconds_count{method="GET",route="/v1/projects/{project_id}"} 1',
    );
    expect(text).toContain('tenon_rate_limit_refusals_total{limit="auth"} 1\n');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
  });
});
