import type { LockMode } from '../../../../src/application/shared/ports.js';
import type { AlertRule } from '../../../../src/domain/alerts/alert-rule.js';
import type { FinalStatus } from '../../../../src/domain/jobs/job.js';
import { MemoryStore } from '../../../fakes/memory-store.js';
import { jobsRig } from '../../../support/jobs-rig.js';
import { memoryRepositories } from '../../../support/memory-repositories.js';
import { aCall, aRule, at, ended } from '../../../support/records.js';

const tooLong = { ruleType: 'job_duration_exceeded', threshold: 0.999 } as const;

describe('finishing a job', () => {
  /** The locks that it takes to finish a call that ran for a second. */
  async function locksFor(rule: Partial<AlertRule> | null, status: FinalStatus): Promise<LockMode[]> {
    const repositories = memoryRepositories(new MemoryStore());
    const modes: LockMode[] = [];
    const { locks } = repositories;
    const { finisher, alertRules, history } = jobsRig({
      ...repositories,
      locks: {
        run: (name, work, mode = 'exclusive') => {
          modes.push(mode);
          return locks.run(name, work, mode);
        },
      },
    });
    if (rule) await alertRules.add(aRule(rule));
    const call = ended(aCall(), status, at(1));
    await finisher.finishCall(call);
    expect((await history()).map(({ id }) => id)).toEqual([call.id]);
    return modes;
  }

  it('takes one statement and no other lock if there is no rule', async () => {
    expect(await locksFor(null, 'failed')).toEqual([]);
  });

  it.each<[string, Partial<AlertRule>, FinalStatus]>([
    ['a failure of another kind', { jobKind: 'external', failuresInARow: 1 }, 'failed'],
    ['a success after another', { failuresInARow: 0 }, 'succeeded'],
    ['a cancelled call', { failuresInARow: 2 }, 'cancelled'],
    ['a call that took just as long as allowed', { ...tooLong, threshold: 1 }, 'succeeded'],
    ['a long call, for a disabled rule', { ...tooLong, enabled: false }, 'succeeded'],
  ])('shares the lock if no rule reacts: %s', async (_, rule, status) => {
    expect(await locksFor(rule, status)).toEqual(['shared']);
  });

  it.each<[string, Partial<AlertRule>, FinalStatus]>([
    ['a failure', {}, 'failed'],
    ['a failure of the kind', { jobKind: 'chat' }, 'failed'],
    ['a failure, for a disabled rule', { enabled: false }, 'failed'],
    ['a success after a failure', { failuresInARow: 1 }, 'succeeded'],
    ['a success after the rule fired', { failuresInARow: 3, firedInRun: true }, 'succeeded'],
    ['a call that took too long', tooLong, 'succeeded'],
  ])('holds the lock alone if a rule reacts: %s', async (_, rule, status) => {
    expect(await locksFor(rule, status)).toEqual(['shared', 'exclusive']);
  });
});
