import type { Clock } from '../../../src/application/shared/ports.js';

export interface ClockUnderTest {
  readonly clock: Clock;
  /** The true time of day, in milliseconds since the epoch. */
  truth(): number;
  /** Returns when a little time has passed. */
  pass(): void;
}

export function clockContract(adapter: string, open: () => ClockUnderTest) {
  describe(`Clock of ${adapter}`, () => {
    it('tells the time of day', () => {
      const { clock, truth } = open();
      const before = truth();
      const now = clock.now().getTime();
      expect(now).toBeGreaterThanOrEqual(before);
      expect(now).toBeLessThanOrEqual(truth());
    });

    it('goes on', () => {
      const { clock, pass } = open();
      const before = clock.now();
      pass();
      expect(clock.now().getTime()).toBeGreaterThan(before.getTime());
    });

    it('gives a fresh value at each call, which is its owner’s to change', () => {
      const { clock, truth } = open();
      const [mine, yours] = [clock.now(), clock.now()];
      const told = yours.getTime();
      mine.setFullYear(1815);
      expect(yours.getTime()).toBe(told);
      expect(Math.abs(clock.now().getTime() - truth())).toBeLessThan(60_000);
    });
  });
}
