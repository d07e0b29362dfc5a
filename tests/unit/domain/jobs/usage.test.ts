import { Histogram, MOST_ENTRIES, USAGE_KEPT_MS, Usage, type UsagePart } from '../../../../src/domain/jobs/usage.js';

const time = (text: string) => new Date(`2026-03-01T${text}Z`);

const percentiles = (values: readonly number[]) => Histogram.percentiles(Histogram.sum(values.map(Histogram.of)));
const one = { calls: 1, failures: {}, tokensIn: 0, tokensOut: 0, latency: Histogram.of(1), firstToken: [], cost: null };

describe('Histogram.percentiles', () => {
  it.each([0.001, 0.0123, 0.3, 1, 7.7, 59.9, 600])('are within 5 %% of %p', (exact) => {
    const { p50 } = Histogram.percentiles(Histogram.of(exact)) as { p50: number };
    expect(Math.abs(p50 - exact) / exact).toBeLessThan(0.05);
  });

  it('are the values of the nearest rank', () => {
    const values = Array.from({ length: 200 }, (_, index) => (index + 1) / 10);
    const { p50, p95, p99 } = percentiles(values) as never as Record<string, number>;
    for (const [found, exact] of [
      [p50, 10],
      [p95, 19],
      [p99, 19.8],
    ] as [number, number][])
      expect(Math.abs(found - exact) / exact).toBeLessThan(0.05);
    expect(percentiles([0, 0, 0.0004, 5])).toMatchObject({ p50: 0, p95: expect.closeTo(5, 0) });
    expect(Histogram.percentiles([])).toBeNull();
  });
});

describe('a period of usage', () => {
  const now = time('12:34:56.789');

  it.each([
    ['minute', '2026-03-01T11:34:00Z'],
    ['hour', '2026-02-28T12:00:00Z'],
    ['day', '2026-01-30T00:00:00Z'],
  ] as const)('begins at a full %s by default', (bucket, since) => {
    expect(Usage.period(bucket, null, null, now)).toEqual({ since: new Date(since), until: null });
  });

  it('begins before its end by default, and must not end before it begins', () => {
    expect(Usage.period('hour', null, new Date(0), now).since).toEqual(new Date(-86_400_000));
    expect(() => Usage.period('hour', now, new Date(now.getTime() - 1), now)).toThrow(
      'until: must not be before since',
    );
    expect(Usage.period('hour', now, now, now)).toEqual({ since: now, until: now });
  });

  it('begins at a full hour if its minutes are deleted, and at a full day if its hours are deleted', () => {
    const since = (ageMs: number) => Usage.period('hour', new Date(now.getTime() - ageMs), null, now).since;
    expect(since(USAGE_KEPT_MS.minute - 60_000)).toEqual(new Date(now.getTime() - USAGE_KEPT_MS.minute + 60_000));
    expect(since(USAGE_KEPT_MS.minute)).toEqual(new Date(time('12:00:00').getTime() - USAGE_KEPT_MS.minute));
    expect(since(USAGE_KEPT_MS.hour)).toEqual(new Date(time('00:00:00').getTime() - USAGE_KEPT_MS.hour));
    expect(since(USAGE_KEPT_MS.hour)).not.toEqual(since(USAGE_KEPT_MS.hour - 3_600_000));
    expect(since(USAGE_KEPT_MS.hour + 1)).toEqual(new Date(time('00:00:00').getTime() - USAGE_KEPT_MS.hour));
  });

  it('consists of the largest possible pieces', () => {
    const pieces = (since: Date, until: Date | null, bucket: 'minute' | 'hour' | 'day') =>
      Usage.pieces({ scope: null, since, until, bucket, groupBy: null }).map(({ of }) => of);
    const late = new Date('2026-03-04T01:02:03Z');
    expect(pieces(now, late, 'day')).toEqual(['call', 'minute', 'hour', 'day', 'hour', 'minute', 'call']);
    expect(pieces(now, late, 'minute')).toEqual(['call', 'minute', 'call']);
    expect(pieces(time('00:00:00'), null, 'day')).toEqual(['day']);
    expect(pieces(time('12:00:00'), time('13:00:00'), 'day')).toEqual(['hour']);
    expect(pieces(time('12:00:01'), time('12:01:01'), 'hour')).toEqual(['call']);
    expect(pieces(now, now, 'hour')).toEqual([]);
  });
});

describe('Usage.entries', () => {
  const entry = (start: Date, group: string | null = null): UsagePart => ({ ...one, start, group });

  it('are sorted by start, then by group, entries without a group first', () => {
    const parts = [
      entry(time('13:00:00'), 'b'),
      entry(time('12:59:00'), 'b'),
      entry(time('13:00:00')),
      entry(time('13:10:00'), 'a'),
    ];
    const entries = Usage.entries([...parts, entry(time('13:20:00'), 'b')], 'hour');
    expect(entries.map(({ start, group, calls }) => [start.getUTCHours(), group, calls])).toEqual([
      [12, 'b', 1],
      [13, null, 1],
      [13, 'a', 1],
      [13, 'b', 2],
    ]);
  });

  it('are only the newest if there are too many', () => {
    const parts = Array.from({ length: MOST_ENTRIES + 2 }, (_, minute) => entry(new Date(minute * 60_000)));
    const entries = Usage.entries(parts.reverse(), 'minute');
    expect([entries.length, entries[0]?.start]).toEqual([MOST_ENTRIES, new Date(120_000)]);
  });
});
