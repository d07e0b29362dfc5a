import { Ownership } from '../../src/application/processes/ownership.js';
import { MemoryInstanceRegistry, MemoryProcesses } from '../fakes/jobs/memory-instance-registry.js';
import { MemoryOtherProcesses } from '../fakes/processes/memory-other-processes.js';
import { ManualClock } from '../fakes/shared/manual-clock.js';

/** One process of the service among those that `known` knows, for unit tests. */
export function imaginedProcess(known = new MemoryProcesses(), clock = new ManualClock()) {
  const processes = new MemoryInstanceRegistry(known);
  return { processes, clock, ownership: new Ownership(processes, clock), others: new MemoryOtherProcesses() };
}
