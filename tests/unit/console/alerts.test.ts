import { oneByOne, type PacingState, quotaOf } from '../../../src/interfaces/web/console/pages/alerts/pacing.js';
import { binsOf, conditionOf, isComplete, spikeOf } from '../../../src/interfaces/web/console/pages/alerts/rule.js';

describe('oneByOne', () => {
  const plenty = { remaining: 100, limit: 120, seconds: 1 };
  const run = async (items: readonly number[], act: (item: number) => Promise<typeof plenty>, stopAfter = Infinity) => {
    const progress: PacingState[] = [];
    const waits: number[] = [];
    await oneByOne(items, act, {
      tell: (far) => progress.push(far),
      wait: async (seconds) => void waits.push(seconds),
      stopped: () => (progress.at(-1)?.done ?? 0) >= stopAfter,
    });
    return { progress, waits };
  };

  it('makes the calls one after another and reports the progress', async () => {
    const seen: number[] = [];
    const { progress, waits } = await run([7, 8], async (item) => {
      seen.push(item);
      return plenty;
    });
    expect([seen, waits]).toEqual([[7, 8], []]);
    expect(progress.map(({ done }) => done)).toEqual([0, 1, 2]);
  });

  it('waits between calls while little of the rate limit is left', async () => {
    const { waits } = await run([1, 2, 3], async () => ({ remaining: 20, limit: 120, seconds: 9 }));
    expect(waits).toEqual([9, 9]);
  });

  it('waits and repeats a call after a refusal by the rate limit, and throws other refusals', async () => {
    let calls = 0;
    const { progress, waits } = await run([1, 2], async () => {
      calls += 1;
      if (calls === 2) throw { status: 429, retryAfter: 12 };
      return plenty;
    });
    expect([calls, waits, progress.at(-1)?.done]).toEqual([3, [12], 2]);
    expect(progress).toContainEqual({ done: 1, all: 2, waits: 12 });
    await expect(run([1], () => Promise.reject({ status: 404 }))).rejects.toEqual({ status: 404 });
  });

  it('stops before the next item', async () => {
    expect((await run([1, 2, 3], async () => plenty, 1)).progress.at(-1)?.done).toBe(1);
  });

  it('reads the quota from the headers of an answer', () => {
    const headers = new Headers({
      RateLimit: '"default";r=3;t=12',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-limit-requests': '120',
    });
    expect(quotaOf(headers)).toEqual({ remaining: 3, limit: 120, seconds: 12 });
  });
});

describe('alert rules in words and bars', () => {
  it('say when a rule fires', () => {
    const when = (rule_type: 'consecutive_failures' | 'job_duration_exceeded', threshold: number, job_kind?: string) =>
      conditionOf({ rule_type, threshold, job_kind });
    expect(when('consecutive_failures', 1)).toBe('When a job fails');
    expect(when('consecutive_failures', 3, 'chat')).toBe('When 3 chat jobs fail in a row');
    expect(when('job_duration_exceeded', 0.5, 'evaluation')).toBe('When an evaluation job runs longer than 0.5 s');
    expect(when('job_duration_exceeded', 60)).toBe('When a job runs longer than 60 s');
  });

  it('are complete only with a valid threshold', () => {
    const complete = (rule_type: 'consecutive_failures' | 'job_duration_exceeded', threshold: string) =>
      isComplete({ rule_type, threshold });
    expect(['3', '1e2'].map((text) => complete('consecutive_failures', text))).toEqual([true, true]);
    expect(['', '0', '-1', '1.5', 'x'].map((text) => complete('consecutive_failures', text))).not.toContain(true);
    expect(complete('job_duration_exceeded', '1.5')).toBe(true);
  });

  it('have bars that count alerts in equal parts of the span, and a highest bar', () => {
    const bins = binsOf([0, 1, 9.9, 10, 55, 100], 0, 100, 10);
    expect(bins).toEqual([3, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect(spikeOf(bins, 0, 100)).toEqual({ count: 3, at: 0 });
    expect(spikeOf([0, 0], 0, 100)).toBeNull();
  });
});
