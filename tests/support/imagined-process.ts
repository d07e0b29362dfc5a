import { Ownership } from '../../src/application/processes/ownership.js';
import {
  MemoryLivingProcesses,
  MemoryProcesses,
} from '../../src/infrastructure/memory/jobs/memory-living-processes.js';
import { MemoryOtherProcesses } from '../../src/infrastructure/memory/processes/memory-other-processes.js';
import { ManualClock } from '../../src/infrastructure/memory/shared/manual-clock.js';

/** One process of the service among those that `known` knows, for unit tests. */
export function imaginedProcess(known = new MemoryProcesses(), clock = new ManualClock()) {
  const processes = new MemoryLivingProcesses(known);
  return { processes, clock, ownership: new Ownership(processes, clock), others: new MemoryOtherProcesses() };
}
