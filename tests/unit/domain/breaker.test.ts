import { Breaker, breakerRules, type Pass } from '../../../src/domain/chat/breaker.js';

const { firstPauseMs, longestPauseMs, windowMs } = breakerRules;

/** A breaker with a clock. Calls run one after another, unless `enter` keeps them open. */
class Rig {
  now = 1_000_000;
  breaker: Breaker = Breaker.closed;

  get admits(): boolean {
    return Breaker.admits(this.breaker, this.now);
  }

  get state(): string {
    return Breaker.state(this.breaker, this.now);
  }

  get waitMs(): number {
    return Breaker.waitMs(this.breaker, this.now);
  }

  enter(): Pass {
    const [breaker, pass] = Breaker.enter(this.breaker);
    this.breaker = breaker;
    return pass;
  }

  fail(pass = this.enter(), waitMs = 0): void {
    this.breaker = Breaker.failed(this.breaker, pass, { now: this.now, waitMs });
  }

  answer(pass = this.enter()): void {
    this.breaker = Breaker.answered(this.breaker, pass);
  }

  leave(pass = this.enter()): void {
    this.breaker = Breaker.left(this.breaker, pass);
  }

  failTimes(times: number): void {
    for (let i = 0; i < times; i++) this.fail();
  }

  /** Opens the breaker, and lets the probe of each pause fail, `times` times. Returns the pauses. */
  pauses(times: number): number[] {
    this.failTimes(5);
    return Array.from({ length: times }, () => {
      const { waitMs } = this;
      this.now += waitMs;
      this.fail();
      return waitMs;
    });
  }
}

describe('a breaker', () => {
  let rig: Rig;
  beforeEach(() => {
    rig = new Rig();
  });

  it('opens at the fifth failure within 30 seconds, and not before', () => {
    rig.failTimes(4);
    expect([rig.state, rig.admits]).toEqual(['closed', true]);
    rig.now += windowMs - 1;
    rig.fail();
    expect([rig.state, rig.admits, rig.waitMs]).toEqual(['open', false, firstPauseMs]);
  });

  it('does not count a failure from 30 seconds ago', () => {
    rig.fail();
    rig.now += windowMs;
    rig.failTimes(4);
    expect(rig.state).toBe('closed');
    rig.fail();
    expect(rig.state).toBe('open');
  });

  it('opens after many successes as soon as five calls fail', () => {
    for (let i = 0; i < 1_000; i++) rig.answer();
    rig.failTimes(5);
    expect(rig.state).toBe('open');
  });

  it('opens at the fifth failure, however many calls are answered between', () => {
    for (let i = 0; i < 5; i++) {
      expect(rig.state).toBe('closed');
      for (let answers = 0; answers < 20; answers++) rig.answer();
      rig.fail();
    }
    expect(rig.state).toBe('open');
  });

  it('ignores callers who have left', () => {
    for (let i = 0; i < 20; i++) rig.leave();
    rig.failTimes(4);
    for (let i = 0; i < 20; i++) rig.leave();
    expect(rig.state).toBe('closed');
  });

  it('lets one call through after the pause, and closes when this call has content', () => {
    rig.failTimes(5);
    rig.now += firstPauseMs - 1;
    expect(rig.admits).toBe(false);
    rig.now += 1;
    expect([rig.state, rig.admits]).toEqual(['half_open', true]);
    const probe = rig.enter();
    expect([rig.state, rig.admits, rig.waitMs]).toEqual(['half_open', false, firstPauseMs]);
    rig.breaker = Breaker.began(rig.breaker, probe);
    expect([rig.state, rig.admits, rig.waitMs]).toEqual(['closed', true, 0]);
    rig.failTimes(4);
    rig.fail(probe); // a break after its first content
    expect(rig.state).toBe('open');
  });

  it('lets the next call probe if the caller of the probe has left', () => {
    rig.failTimes(5);
    rig.now += firstPauseMs;
    rig.leave();
    expect(rig.admits).toBe(true);
    rig.answer();
    expect(rig.state).toBe('closed');
  });

  it('waits longer after each probe that fails, up to a minute, and short again after a success', () => {
    const grown = rig.pauses(8);
    expect(grown).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
    rig.now += longestPauseMs;
    rig.answer();
    expect(rig.state).toBe('closed');
    rig.failTimes(5);
    expect(rig.waitMs).toBe(firstPauseMs);
  });

  it('goes on with longer pauses if the target fails again after the first content of the probe', () => {
    rig.failTimes(5);
    rig.now += firstPauseMs;
    rig.breaker = Breaker.began(rig.breaker, rig.enter());
    rig.failTimes(5);
    expect(rig.waitMs).toBe(2 * firstPauseMs);
  });

  it('waits at least as long as the target advised', () => {
    rig.fail(rig.enter(), 20_000);
    rig.now += 5_000;
    rig.failTimes(4);
    expect(rig.waitMs).toBe(15_000);
    rig.now += 15_000;
    rig.fail(rig.enter(), 30_000);
    expect(rig.waitMs).toBe(30_000);
    rig.now += 30_000;
    rig.fail();
    expect(rig.waitMs).toBe(4_000);
  });

  it('ignores the ends of calls that began before it opened', () => {
    const early = Array.from({ length: 9 }, () => rig.enter());
    for (const pass of early.slice(0, 5)) rig.fail(pass);
    const opened = rig.breaker;
    rig.answer(early[5]);
    rig.fail(early[6]);
    rig.leave(early[7]);
    expect(rig.breaker).toBe(opened);
    rig.now += firstPauseMs;
    rig.answer();
    rig.fail(early[8]);
    rig.failTimes(4);
    expect(rig.state).toBe('closed');
  });

  it('does not stay open if the clock is set back', () => {
    rig.failTimes(5);
    rig.now -= 3_600_000;
    expect(rig.admits).toBe(true);
    rig.fail();
    expect(rig.admits).toBe(false);
  });
});
