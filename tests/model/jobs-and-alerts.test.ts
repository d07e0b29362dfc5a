import fc from 'fast-check';
import { MemoryInstances } from '../fakes/jobs/memory-instance-registry.js';
import { MemoryStore } from '../fakes/memory-store.js';
import { ManualClock } from '../fakes/shared/manual-clock.js';
import { jobsCommands, type Real } from '../support/jobs-commands.js';
import { JobsModel } from '../support/jobs-model.js';
import { jobsRig } from '../support/jobs-rig.js';
import { memoryRepositories } from '../support/memory-repositories.js';
import { postgresUnderTest } from '../support/postgres-repositories.js';
import { at } from '../support/records.js';
import type { StoreUnderTest } from '../support/repositories.js';

/** Uses one store for all sequences, because each store has an AsyncLocalStorage, which slows down every promise. */
function memoryUnderTest(): StoreUnderTest {
  const store = new MemoryStore();
  return {
    open: async () => {
      for (const table of ['jobs', 'alert_rules', 'alerts', 'audit_entries']) store.replaceRows(table, new Map());
      return memoryRepositories(store);
    },
    elsewhere: async () => memoryRepositories(store),
  };
}

/**
 * The number of random sequences of commands that are compared with a simple model. For more sequences run
 * `TENON_SEQUENCES=2000 npx jest tests/model`. PostgreSQL gets a thirtieth of them.
 */
const SEQUENCES = Number(process.env.TENON_SEQUENCES ?? 60);

describe.each<[string, () => StoreUnderTest, number]>([
  ['memory', memoryUnderTest, SEQUENCES],
  ['PostgreSQL', postgresUnderTest, Math.ceil(SEQUENCES / 30)],
])('rules, jobs and alerts in %s', (_, openStore, numRuns) => {
  const store = openStore();

  const setUp = async (): Promise<Real> => {
    const [clock, known] = [new ManualClock(at(0)), new MemoryInstances()];
    const here = jobsRig(await store.open(), clock, known);
    return { processes: [here, jobsRig(await store.elsewhere(), clock, known)], open: [] };
  };

  it(`behave like the model in ${numRuns} random sequences`, async () => {
    const property = fc.asyncProperty(jobsCommands, async (commands) => {
      const real = await setUp();
      await fc.asyncModelRun(() => ({ model: new JobsModel(), real }), commands);
    });
    await fc.assert(property, { numRuns, seed: 20_260_301, endOnFailure: false });
  }, 300_000);
});
