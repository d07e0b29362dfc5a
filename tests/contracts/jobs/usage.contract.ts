import { setTimeout as delay } from 'node:timers/promises';
import { FINISHING } from '../../../src/application/jobs/job-finisher.js';
import { UsageRollUp } from '../../../src/application/jobs/usage.service.js';
import type { FinishedJob, Job } from '../../../src/domain/jobs/job.js';
import {
  type EndedCall,
  Histogram,
  USAGE_KEPT_MS,
  Usage,
  type UsageQuery,
  usageBuckets,
  usageGroups,
} from '../../../src/domain/jobs/usage.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { atOnce, gate } from '../../support/barrier.js';
import { aCall, aJob, at, ended } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

const DAY = 86_400;

type Call = Job & FinishedJob & EndedCall;
interface CallFields extends Partial<Pick<Job, 'teamId' | 'projectId' | 'modelId' | 'requestedBy'>> {
  readonly keyId?: string | null;
  readonly latency?: number;
  readonly tokens?: readonly [number, number];
  readonly firstToken?: number | null;
  readonly failure?: string;
  readonly cost?: string | null;
}

/** Makes a call that ended at `at(end)`. */
function callAt(
  end: number,
  { keyId = null, latency = 1, tokens, firstToken = null, failure, cost = null, ...over }: CallFields = {},
) {
  const job = ended(aCall({ createdAt: at(end - latency), ...over }), failure ? 'failed' : 'succeeded', at(end));
  const [tokensIn, tokensOut] = tokens ?? [null, null];
  return { ...job, cost, usage: { keyId, tokensIn, tokensOut, firstToken, failure: failure ?? null } } as Call;
}

export function usageContract(adapter: string, store: StoreUnderTest) {
  describe(`UsageRepository in ${adapter}`, () => {
    let repositories: Repositories;
    let elsewhere: Repositories;

    beforeEach(async () => {
      repositories = await store.open();
      elsewhere = await store.elsewhere();
    });

    const append = ({ unitOfWork, jobHistory }: Repositories, calls: readonly (Job & FinishedJob)[]) =>
      unitOfWork.run(async () => {
        for (const call of calls) await jobHistory.append(call, false);
      });
    const rollUp = ({ usage, unitOfWork } = repositories, now = at(DAY)) =>
      new UsageRollUp(usage, unitOfWork, new ManualClock(now)).execute();
    const sums = (query: Partial<UsageQuery> = {}) =>
      elsewhere.usage.sums({
        scope: null,
        since: at(-DAY),
        until: null,
        bucket: 'hour',
        groupBy: null,
        ...query,
      });
    const counted = async (query?: Partial<UsageQuery>) =>
      (await sums(query)).map(({ group, calls }) => [group, calls]);

    it.each(['nothing', 'a part', 'all'])('sums up calls by bucket and group if %s is rolled up', async (rolledUp) => {
      const calls = [
        callAt(0, { tokens: [7, 3], keyId: 'key_1', firstToken: 0.5 }),
        callAt(1, { requestedBy: 'usr_2', projectId: 'prj_2', modelId: 'mdl_2', tokens: [1, 2] }),
        callAt(3_600, { failure: 'inference_timeout' }),
        callAt(3_601, { failure: 'inference_timeout', keyId: 'key_1' }),
        callAt(3_602, { failure: 'runtime_unavailable', projectId: null, modelId: null }),
        ended(aCall(), 'cancelled', at(3_603)),
      ];
      await append(repositories, calls.slice(0, 3));
      if (rolledUp !== 'nothing') await rollUp();
      await append(repositories, [...calls.slice(3), ended(aJob()), { ...ended(aCall()), usage: null }]);
      await repositories.jobs.add([aCall()]);
      if (rolledUp === 'all') await rollUp();
      const [first, second] = await sums();
      expect(first).toEqual({
        start: new Date('2026-03-01T12:00:00Z'),
        group: null,
        calls: 2,
        failures: {},
        tokensIn: 8,
        tokensOut: 5,
        latency: Histogram.percentiles(Histogram.of(1)),
        firstToken: Histogram.percentiles(Histogram.of(0.5)),
        cost: null,
      });
      expect(second).toMatchObject({
        start: new Date('2026-03-01T13:00:00Z'),
        calls: 4,
        failures: { inference_timeout: 2, runtime_unavailable: 1 },
        firstToken: null,
      });
      const day = { bucket: 'day' } as const;
      const project = [
        [null, 1],
        ['prj_1', 4],
        ['prj_2', 1],
      ];
      expect(await counted({ ...day, groupBy: 'project' })).toEqual(project);
      expect((await counted({ ...day, groupBy: 'model' })).map(([, count]) => count)).toEqual([1, 4, 1]);
      const byKey = await sums({ ...day, groupBy: 'key' });
      expect(byKey).toMatchObject([
        { start: new Date('2026-03-01T00:00:00Z'), group: null, calls: 4 },
        { group: 'key_1', calls: 2, tokensIn: 7, failures: { inference_timeout: 1 } },
      ]);
      expect(await counted({ ...day, groupBy: 'account', until: at(3_600) })).toEqual([
        ['usr_1', 1],
        ['usr_2', 1],
      ]);
    });

    it('sums up costs without a rounding error, whatever is rolled up', async () => {
      const costs = ['0.000000001', '12345678901234.999999999', null, '0.100000000', '0.200000000', '0.000000000'];
      const expected = '12345678901235.300000000';
      await append(
        repositories,
        costs.slice(0, 3).map((cost) => callAt(0, { cost })),
      );
      await rollUp();
      await append(
        repositories,
        costs.slice(3).map((cost) => callAt(0, { cost })),
      );
      expect(await sums()).toMatchObject([{ calls: 6, cost: expected }]);
      await rollUp();
      expect(await sums()).toMatchObject([{ calls: 6, cost: expected }]);
      expect(await sums({ until: at(-1) })).toEqual([]);
      await append(repositories, [callAt(3_600)]);
      expect(await sums({ since: at(3_600) })).toMatchObject([{ calls: 1, cost: null }]);
    });

    it('sums up the calls of an account, of a team, or of everyone including the master key', async () => {
      await append(repositories, [
        callAt(0),
        callAt(0, { requestedBy: 'usr_2' }),
        callAt(0, { teamId: 'tea_2', requestedBy: 'usr_3' }),
        callAt(0, { teamId: null, requestedBy: 'master' }),
      ]);
      for (const roll of [async () => undefined, rollUp]) {
        await roll();
        expect(await counted({ scope: 'usr_1' })).toEqual([[null, 1]]);
        expect(await counted({ scope: 'tea_1' })).toEqual([[null, 2]]);
        expect(await counted({ scope: 'tea_1', groupBy: 'account' })).toHaveLength(2);
        expect(await counted({ scope: 'master' })).toEqual([]);
        expect(await counted({ groupBy: 'account' })).toHaveLength(4);
      }
    });

    it('counts every call once for any period, bucket and group', async () => {
      let seed = 1;
      const random = (below: number) => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % below;
      };
      const calls = Array.from({ length: 240 }, () =>
        callAt(random(1_000 * 2 * DAY) / 1000, {
          projectId: `prj_${random(3)}`,
          keyId: random(2) ? 'key_1' : null,
          latency: random(60_000) / 1000,
          tokens: [random(100), random(100)],
          firstToken: random(2) ? random(1_000) / 1000 : null,
        }),
      );
      await append(repositories, calls.slice(0, 120));
      await rollUp();
      await append(repositories, calls.slice(120));
      for (let query = 0; query < 30; query++) {
        const [one, other] = [random(calls.length), random(calls.length)];
        const [since, until] = [calls[one] as Call, calls[other] as Call]
          .map(({ finishedAt }) => finishedAt)
          .sort(byTime);
        const bucket = usageBuckets[query % 3] as UsageQuery['bucket'];
        const groupBy = [null, ...usageGroups][query % 5] as UsageQuery['groupBy'];
        const within = calls.filter(({ finishedAt: end }) => end >= (since as Date) && end < (until as Date));
        const parts = within.map((call) => {
          return { ...Usage.of(call), start: call.finishedAt, group: Usage.groupOf(call, groupBy) };
        });
        expect(await sums({ since, until, bucket, groupBy })).toEqual(Usage.entries(parts, bucket));
      }
    });

    it('counts a call once when several instances roll up at the same time', async () => {
      const calls = Array.from({ length: 700 }, (_, second) => callAt(second));
      await append(repositories, calls);
      await atOnce(4, (party) => rollUp(party % 2 ? repositories : elsewhere));
      const [{ calls: all } = { calls: 0 }, ...others] = await sums({ bucket: 'day' });
      expect([all, others, await elsewhere.usage.unrolled()]).toEqual([700, [], null]);
    });

    it('counts no call twice when an instance rolls up late, with an old value of `last`', async () => {
      await append(repositories, [callAt(1)]);
      const last = (await repositories.usage.unrolled()) as string;
      await append(repositories, [callAt(2)]);
      await rollUp(elsewhere);
      const late = () => repositories.usage.rollUp(last, 1_000, at(0));
      expect(await repositories.unitOfWork.locked('late', late)).toBe(false);
      await rollUp();
      expect(await counted()).toEqual([[null, 2]]);
    });

    it('counts a call that is stored after a later call', async () => {
      const [begun, going] = [gate(), gate()];
      const slow = repositories.unitOfWork.locked(
        FINISHING,
        async () => {
          await repositories.jobHistory.append(callAt(1), false);
          begun.open();
          await going.opened;
        },
        'shared',
      );
      await begun.opened;
      const quick = elsewhere.jobHistory.appendWithoutRules(callAt(2));
      await Promise.race([quick, delay(100)]);
      const rolled = rollUp(elsewhere);
      await Promise.race([rolled, delay(100)]);
      going.open();
      await Promise.all([slow, quick, rolled]);
      await rollUp();
      expect(await counted()).toEqual([[null, 2]]);
    });

    it('keeps usage after its calls are removed, but no usage by minute or hour of old calls', async () => {
      await append(repositories, [callAt(0), callAt(1, { failure: 'internal_error' })]);
      await rollUp(repositories, new Date(at(DAY).getTime() + USAGE_KEPT_MS.minute));
      await repositories.jobHistory.forgetCalls(at(2), 10);
      const since = new Date('2026-03-01T12:00:00Z');
      expect(await sums({ since })).toMatchObject([{ calls: 2, failures: { internal_error: 1 } }]);
      expect(await sums({ since, bucket: 'minute' })).toEqual([]);
      await append(repositories, [callAt(2)]);
      await rollUp(repositories, new Date(at(DAY).getTime() + USAGE_KEPT_MS.hour));
      expect(await sums({ since })).toMatchObject([{ calls: 2 }]);
      expect(await sums({ since: new Date('2026-03-01T00:00:00Z'), bucket: 'day' })).toMatchObject([{ calls: 3 }]);
    });

    it('returns about how many rows `sums` reads', async () => {
      await append(repositories, [callAt(0), callAt(60), callAt(3_600), callAt(3_601)]);
      await rollUp();
      const query = { scope: null, since: at(-DAY), until: null, groupBy: null } as const;
      expect(await repositories.usage.size({ ...query, bucket: 'minute' })).toBeGreaterThanOrEqual(3);
      expect(await repositories.usage.size({ ...query, bucket: 'hour' })).toBeGreaterThanOrEqual(2);
    });
  });
}

const byTime = (one: Date, other: Date) => one.getTime() - other.getTime();
