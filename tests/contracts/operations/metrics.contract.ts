import type { Metrics } from '../../../src/application/operations/ports.js';

export interface MetricsUnderTest {
  readonly metrics: Metrics;
  /** Names of gauges, each of a source of its own. */
  readonly gauges: readonly [string, string];
  /** The second source fails from now on. */
  fail(): void;
}

/** Lines of the text format: comments on what follows, and samples. */
const LINE =
  /^(# (HELP [a-z_:][\w:]* .+|TYPE [a-z_:][\w:]* (gauge|counter|histogram|summary))|[a-z_:][\w:]*(\{[^}]*\})? \S+)?$/i;

export function metricsContract(adapter: string, open: () => MetricsUnderTest) {
  describe(`Metrics of ${adapter}`, () => {
    it('are in the text format of Prometheus, each with its help and type', async () => {
      const { metrics, gauges } = open();
      const text = await metrics.read();
      expect(text.split('\n').filter((line) => !LINE.test(line))).toEqual([]);
      for (const name of gauges) {
        expect(text).toMatch(new RegExp(`^# HELP ${name} .+\n# TYPE ${name} gauge\n${name} \\d+$`, 'm'));
      }
    });

    it('leave out what cannot be found out, and nothing else', async () => {
      const { metrics, gauges, fail } = open();
      fail();
      const text = await metrics.read();
      expect(text).toContain(`\n${gauges[0]} `);
      expect(text).not.toContain(gauges[1]);
    });
  });
}
