import { backlogMetrics, gauge, type MetricSource } from '../../../src/infrastructure/prometheus/metric-sources.js';
import { PrometheusMetrics } from '../../../src/infrastructure/prometheus/prometheus-metrics.js';

/** A line of the text format: a comment on a metric, or a sample. */
const LINE =
  /^(# (HELP [a-z_:][\w:]* .+|TYPE [a-z_:][\w:]* (gauge|counter|histogram|summary))|[a-z_:][\w:]*(\{[^}]*\})? \S+)?$/i;

describe('Metrics of Prometheus', () => {
  const one: MetricSource = { collect: () => [gauge('tenon_one', 'One.', 1)] };

  it('are in the text format of Prometheus, each with its help and type', async () => {
    const two: MetricSource = { collect: async () => [gauge('tenon_two', 'Two.', 2)] };
    const text = await new PrometheusMetrics([one, two]).read();
    expect(text.split('\n').filter((line) => !LINE.test(line))).toEqual([]);
    expect(text).toContain('# HELP tenon_one One.\n# TYPE tenon_one gauge\ntenon_one 1\n');
    expect(text).toContain('# HELP tenon_two Two.\n# TYPE tenon_two gauge\ntenon_two 2\n');
  });

  it.each<[string, MetricSource['collect']]>([
    ['fails', () => Promise.reject(new Error('it is not there'))],
    ['never answers', () => new Promise<never>(() => undefined)],
  ])('leave out only a source that %s', async (_, collect) => {
    const text = await new PrometheusMetrics([{ collect }, one]).read();
    expect(text).toContain('\ntenon_one 1\n');
  });

  it('do not ask a source again before it has answered', async () => {
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

  it('report that the database is out of reach', async () => {
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
