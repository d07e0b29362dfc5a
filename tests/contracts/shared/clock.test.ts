import { ManualClock } from '../../../src/infrastructure/memory/shared/manual-clock.js';
import { SystemClock } from '../../../src/infrastructure/system/system-clock.js';
import { type ClockUnderTest, clockContract } from './clock.contract.js';

clockContract('the system', () => ({
  clock: new SystemClock(),
  truth: Date.now,
  pass: () => {
    for (const before = Date.now(); Date.now() === before; );
  },
}));

clockContract('a test’s hand', (): ClockUnderTest => {
  let truth = Date.UTC(2031, 4, 5, 6, 7, 8, 9);
  const clock = new ManualClock(new Date(truth));
  const pass = () => {
    truth += 1;
    clock.advance(1);
  };
  return { clock, truth: () => truth, pass };
});

describe('ManualClock', () => {
  it('is set, and does not follow the value that it was set to', () => {
    const clock = new ManualClock();
    const time = new Date(Date.UTC(2030, 0, 1));
    clock.set(time);
    time.setFullYear(1815);
    expect(clock.now()).toEqual(new Date(Date.UTC(2030, 0, 1)));
  });
});
