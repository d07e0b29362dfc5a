import { ManualClock } from '../../../src/infrastructure/memory/shared/manual-clock.js';
import { MemoryPauses } from '../../../src/infrastructure/memory/shared/memory-pauses.js';
import { TimedPauses } from '../../../src/infrastructure/system/timed-pauses.js';
import { pausesContract } from './pauses.contract.js';

pausesContract('memory', new MemoryPauses(new ManualClock()));
pausesContract('the system', new TimedPauses());
