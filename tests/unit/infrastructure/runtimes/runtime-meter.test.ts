import { RuntimeMeter } from '../../../../src/infrastructure/runtimes/runtime-meter.js';

describe('the meter of a runtime', () => {
  const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };

  it('counts times from the arrival on, waiting included, and what worked on an answer without it', () => {
    const meter = new RuntimeMeter();
    meter.answered({ usage, waitedMs: 900, firstTokenMs: 100, tookMs: 600 });
    meter.answered({ usage: null, waitedMs: 0, firstTokenMs: null, tookMs: 30 });
    const { firstToken, answer, ...rest } = meter.figures(null);
    expect(rest).toEqual({ waiting: 0, running: 0, workedSeconds: 0.63, ...usage });
    expect(firstToken).toMatchObject({ count: 1, sum: 1 });
    expect(answer).toMatchObject({ count: 2, sum: 1.53 });
    const counts = new Map(answer.within.map(({ seconds, count }) => [seconds, count]));
    expect([0.05, 0.5, 1, 2.5, 60].map((seconds) => counts.get(seconds))).toEqual([1, 1, 1, 2, 2]);
    expect(firstToken.within.find(({ seconds }) => seconds === 1)?.count).toBe(1);
  });
});
