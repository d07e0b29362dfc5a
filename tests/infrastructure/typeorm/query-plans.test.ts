import { jobKinds, jobStatuses } from '../../../src/domain/jobs/job.js';
import { usageBuckets, usageGroups } from '../../../src/domain/jobs/usage.js';
import { fillDatabase, selectsOf, wasteOf } from '../../support/full-database.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import type { Repositories } from '../../support/repositories.js';

/** Many more rows than the pages below show, and many fewer than the tables have. */
const IN_VAIN = 1_000;
const DAY_MS = 86_400_000;

describe('on a full database', () => {
  const postgres = postgresUnderTest();
  const place = { teamId: 'tea_own', projectId: 'prj_own', accountId: 'usr_own' };
  let store: Repositories;
  beforeAll(async () => {
    store = await postgres.open();
    await fillDatabase(postgres.url, { ...place, jobs: 18_000, entries: 12_000 });
  }, 60_000);

  const page = { limit: 100, after: null };
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS);

  /** Returns what the statements of `work` read in vain. */
  const waste = async (work: () => Promise<unknown>) => {
    const selects = await selectsOf(postgres.source, work);
    expect(selects).not.toEqual([]);
    const found: string[] = [];
    for (const select of selects) found.push(...(await wasteOf(postgres.url, select, IN_VAIN)));
    return found;
  };

  it('lists of jobs read no rows in vain, however rare their kinds and ends are', async () => {
    const found: Record<string, string[]> = {};
    const places = [{ teamId: null }, { teamId: place.teamId }, { teamId: 'tea_other' }];
    for (const { teamId } of places)
      for (const projectId of [null, place.projectId, 'prj_0'])
        for (const kind of [null, ...jobKinds])
          for (const status of [null, ...jobStatuses]) {
            const filter = { teamId, projectId, kind, status };
            const reads = await waste(() => store.jobs.list(filter, page));
            if (reads.length > 0) found[JSON.stringify(filter)] = reads;
          }
    expect(found).toEqual({});
  }, 60_000);

  it('lists of the audit trail read no entries in vain, by action, time and both', async () => {
    const any = { team: null, actor: null, action: null, objectId: null, from: null, to: null };
    const team = { id: place.teamId, operator: false };
    const found: Record<string, string[]> = {};
    const filters = [
      {},
      { action: 'model_alias' },
      { action: 'model_alias.moved' },
      { action: 'webhook' },
      { actor: { id: 'usr_rare' } },
      { objectId: 'key_77' },
      { from: ago(200) },
      { to: ago(200) },
      { from: ago(200), to: ago(199) },
      { from: ago(200), to: ago(100), action: 'model_alias' },
    ];
    for (const own of [{ team: null }, { team }, { team: { ...team, operator: true } }])
      for (const filter of filters) {
        const reads = await waste(() => store.auditTrail.list({ ...any, ...own, ...filter }, page));
        if (reads.length > 0) found[JSON.stringify({ ...own, ...filter })] = reads;
      }
    expect(found).toEqual({});
  });

  it('previews of rules, and sums of usage, read no jobs in vain', async () => {
    const found: Record<string, string[]> = {};
    for (const kind of [null, ...jobKinds])
      for (const since of [null, ago(1), ago(20)]) {
        const reads = await waste(async () => {
          for await (const _ of store.jobHistory.part({ kind, since, most: 500 }));
          await store.jobHistory.failuresInARow(kind, 500);
        });
        if (reads.length > 0) found[`preview ${kind} ${since}`] = reads;
      }
    for (const bucket of usageBuckets)
      for (const groupBy of [null, ...usageGroups])
        for (const scope of [null, place.teamId, 'usr_7']) {
          const query = { scope, bucket, groupBy, since: ago(2), until: ago(0.5) };
          const reads = await waste(async () => {
            await store.usage.size(query);
            await store.usage.sums(query);
          });
          if (reads.length > 0) found[`usage ${bucket} ${groupBy} ${scope}`] = reads;
        }
    expect(found).toEqual({});
  });
});
