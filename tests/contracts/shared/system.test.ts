import { CheckedTokens } from '../../../src/infrastructure/crypto/secrets.js';
import {
  AsyncRequestContext,
  SystemClock,
  TimedDelay,
  UuidIdGenerator,
} from '../../../src/infrastructure/system/shared-ports.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryDelay } from '../../fakes/shared/memory-delay.js';
import { type ClockUnderTest, clockContract } from './clock.contract.js';
import { currentRequestContract } from './current-request.contract.js';
import { identifiersContract } from './identifiers.contract.js';
import { pausesContract } from './pauses.contract.js';
import { secretTokensContract } from './secret-tokens.contract.js';

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

currentRequestContract('Node', () => new AsyncRequestContext());

/** As another process has them: with none of the state that this one's were made from. */
function ofAnotherProcess(): UuidIdGenerator {
  let Identifiers = UuidIdGenerator;
  jest.isolateModules(() => {
    ({ UuidIdGenerator: Identifiers } = require('../../../src/infrastructure/system/shared-ports.js'));
  });
  return new Identifiers();
}

identifiersContract('the uuid package', ofAnotherProcess);

describe('Identifiers made by the uuid package', () => {
  afterEach(() => jest.restoreAllMocks());

  it('keep their order when the system’s clock is set back', () => {
    const identifiers = new UuidIdGenerator();
    const made = [identifiers.next('prj')];
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now - 60_000);
    for (let n = 0; n < 1_000; n++) made.push(identifiers.next('prj'));
    jest.restoreAllMocks();
    made.push(identifiers.next('prj'));
    expect([...made].sort()).toEqual(made);
  });
});

pausesContract('memory', new MemoryDelay(new ManualClock()));
pausesContract('the system', new TimedDelay());

secretTokensContract('CheckedTokens', () => new CheckedTokens());
