import { RestartDelays } from '../../../src/infrastructure/system/scheduling.js';

describe('the delays of restarts', () => {
  it('double up to their bound, with some chance in each', () => {
    const series = () => {
      const delays = new RestartDelays({ first: 500, max: 30_000 });
      return Array.from({ length: 2_000 }, () => delays.next());
    };
    const delays = series();
    for (const [i, most] of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      expect(delays[i]).toBeGreaterThanOrEqual(most / 2);
      expect(delays[i]).toBeLessThanOrEqual(most);
    }
    expect(Math.max(...delays)).toBeLessThanOrEqual(30_000);
    expect(series()).not.toEqual(delays);
  });

  it('begin anew after a reset', () => {
    const delays = new RestartDelays({ first: 100, max: 1_000 });
    for (let i = 0; i < 5; i++) delays.next();
    delays.reset();
    expect(delays.next()).toBeLessThanOrEqual(100);
  });
});
