import { MOST_SEARCHED } from '../../../src/application/shared/bounded-page.js';
import { callKinds, jobKinds, jobStatuses } from '../../../src/domain/jobs/job.js';
import { usageBuckets, usageGroups } from '../../../src/domain/jobs/usage.js';
import { query } from '../../support/database.js';
import { fillDatabase, selectsOf, wasteOf } from '../../support/full-database.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import type { Repositories } from '../../support/repositories.js';

/** Many more rows than the pages below show, and many fewer than the tables have. */
const IN_VAIN = 1_000;
const DAY_MS = 86_400_000;

/** Adds 6,000 objects of each other kind. Half of them are of `own`, and half of another team, account or project. */
const OBJECTS = `
  INSERT INTO teams (id, operator, created_at) VALUES ('tea_own', true, now()), ('tea_other', false, now());
  CREATE TEMPORARY VIEW numbers AS SELECT n, lpad(n::text, 6, '0') AS id, CASE WHEN n % 2 = 0 THEN 'own' ELSE 'other' END AS half
    FROM generate_series(1, 6000) n;
  INSERT INTO accounts (id, team_id, name, email, email_key, role, created_at)
    SELECT 'usr_' || id, 'tea_other', 'A', id, id, 'member', now() FROM numbers
    UNION ALL SELECT 'usr_' || half, 'tea_' || half, 'A', half, half, 'admin', now() FROM numbers WHERE n < 3;
  INSERT INTO credentials (id, kind, account_id, digest, origin, created_at)
    SELECT 'key_' || id, CASE WHEN n % 1000 = 0 THEN 'api_key' ELSE 'session' END, 'usr_' || half, id, 'login', now() FROM numbers;
  INSERT INTO invites (id, team_id, digest, sealed_token, role, invited_by, status, created_at, expires_at)
    SELECT 'inv_' || id, 'tea_' || half, id, '', 'member', 'usr_own', CASE WHEN n % 1000 = 0 THEN 'pending' ELSE 'redeemed' END,
           now(), now() + interval '1 day' FROM numbers;
  INSERT INTO projects (id, team_id, name, version, spec, created_by, created_at, updated_at, updated_by)
    SELECT 'prj_' || id, 'tea_' || half, 'P', 1, '{}'::json, 'usr_own', now(), now(), 'usr_own' FROM numbers
    UNION ALL SELECT 'prj_' || half, 'tea_' || half, 'P', 1, '{}'::json, 'usr_own', now(), now(), 'usr_own' FROM numbers WHERE n < 3;
  INSERT INTO project_versions SELECT 'prj_' || half, n, 'P', '{}', 'usr_own', now() FROM numbers;
  INSERT INTO models (id, project_id, request_id, version, state, spec, requested_spec, created_by, created_at, updated_at, updated_by)
    SELECT 'mdl_' || id, 'prj_' || half, gen_random_uuid(), 1, CASE WHEN n % 1000 = 0 THEN 'registered' ELSE 'draft' END, '{}', '{}',
           'usr_own', now(), now(), 'usr_own' FROM numbers;
  INSERT INTO model_versions SELECT 'mdl_00000' || n % 2 + 1, n, '{}', 'usr_own', now() FROM numbers;
  INSERT INTO datasets (id, project_id, name, version, state, record_count, content_sha256, bytes, validation, created_by, created_at,
                        updated_by, updated_at)
    SELECT 'dst_' || id, 'prj_' || half, 'D', 1, 'frozen', 0, '', 0, '{}', 'usr_own', now(), 'usr_own', now() FROM numbers;
  INSERT INTO dataset_versions (dataset_id, version, name, record_count, content_sha256, bytes, validation, old_content_version,
                                created_by, created_at)
    SELECT 'dst_00000' || n % 2 + 1, n, 'D', 0, '', 0, '{}', 1, 'usr_own', now() FROM numbers;
  INSERT INTO conversations (id, project_id, account_id, title, message_count, created_at, updated_at)
    SELECT 'cnv_' || id, 'prj_' || half, 'usr_' || CASE WHEN n % 20 = 0 THEN 'own' ELSE id END, 'C', 1, now(), now() FROM numbers;
  INSERT INTO conversation_messages SELECT 'cnv_00000' || n % 2 + 1, n, 'user', 'Hello', now() FROM numbers;
  INSERT INTO responses (id, project_id, account_id, status, background, previous_id, messages, repeated, output, created_at, stored_bytes)
    SELECT 'resp_' || id, 'prj_' || half, 'usr_' || half, 'completed', true, 'resp_' || lpad((n - 100)::text, 6, '0'),
           '[]', '{}', '[]', now(), 1 FROM numbers;
  INSERT INTO response_batches SELECT 'resp_00000' || n % 2 + 1, n, '[]' FROM numbers;
  INSERT INTO evaluations (job_id, project_id, dataset_id, content_sha256, definition)
    SELECT 'job_' || lpad(id, 12, '0'), 'prj_' || half, 'dst_' || id, '', '{}' FROM numbers;
  INSERT INTO evaluation_results (job_id, position, record_id, input, expected, score, latency)
    SELECT 'job_00000000000' || n % 2 + 1, n, id, '1', '1', 1, 1 FROM numbers;
  INSERT INTO own_calls SELECT 'job_1/1/' || n, 'job_1', 'tea_' || half, 'prj_' || half, 'mdl_1', 'usr_' || half, 'succeeded',
           ended, ended, '{"keyId":null,"tokensIn":1,"tokensOut":1,"firstToken":null,"failure":null}', 1, 1, -n
      FROM numbers, LATERAL (SELECT now() - n * interval '10 minutes' AS ended) AS times;
  INSERT INTO alerts (id, rule_id, rule_name, rule_type, severity, title, message, job_id, created_at, acked_at)
    SELECT 'alr_' || id, 'rul_1', 'R', 'consecutive_failures', 'P1', 'T', 'M', 'job_' || id, now(),
           CASE WHEN n % 1000 = 1 THEN now() END FROM numbers;
  INSERT INTO model_aliases SELECT 'prj_other', 'alias' || n % 60, n, 'mdl_000001', 'usr_own', now() FROM numbers;
  DROP VIEW numbers;
  ANALYZE`;

describe('on a full database', () => {
  const postgres = postgresUnderTest();
  const place = { teamId: 'tea_own', projectId: 'prj_own', accountId: 'usr_own' };
  let store: Repositories;
  beforeAll(async () => {
    store = await postgres.open();
    await fillDatabase(postgres.url, { ...place, jobs: 18_000, entries: 12_000 });
    await query(postgres.url, OBJECTS);
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

  it('searches by name read at most the newest items that the search promises', async () => {
    const none = 'no such name';
    const any = { teamId: null, projectId: null, kind: null, status: null };
    const everything = { team: null, actor: null, action: null, objectId: null, from: null, to: null };
    await query(postgres.url, "UPDATE jobs SET name = 'nightly' WHERE right(id, 1) <> '0'");
    await query(postgres.url, 'VACUUM ANALYZE jobs');
    const searches: Record<string, () => Promise<unknown>> = {
      jobs: () => store.jobs.list({ ...any, named: { teamId: place.teamId, part: none } }, page),
      'rare jobs': () =>
        store.jobs.list({ ...any, kind: 'embedding', named: { teamId: place.teamId, part: 'night' } }, page),
      'jobs of the master key': () => store.jobs.list({ ...any, named: { teamId: null, part: none } }, page),
      audit: () => store.auditTrail.list({ ...everything, q: none }, page),
      'audit of a team and a time': () =>
        store.auditTrail.list(
          { ...everything, team: { id: place.teamId, operator: true }, from: ago(200), q: none },
          page,
        ),
      workspace: () => store.workspaceSearch.find(place.teamId, none, 10),
    };
    for (const [name, search] of Object.entries(searches))
      for (const select of await selectsOf(postgres.source, search))
        expect([name, await wasteOf(postgres.url, select, MOST_SEARCHED)]).toEqual([name, []]);
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
    for (const kind of [null, ...callKinds])
      for (const days of [0.1, 1]) {
        const reads = await waste(() => store.jobHistory.counts([{ after: ago(days), kind, slowerThan: 9 }]));
        if (reads.length > 0) found[`window ${kind} ${days}`] = reads;
      }
    for (const bucket of usageBuckets)
      for (const groupBy of [null, ...usageGroups])
        for (const scope of [null, place.teamId, 'usr_7']) {
          const query = { scope, bucket, groupBy, since: ago(2), until: ago(0.5) };
          const reads = await waste(async () => {
            await store.usage.unrolled();
            await store.usage.size(query);
            await store.usage.sums(query);
          });
          if (reads.length > 0) found[`usage ${bucket} ${groupBy} ${scope}`] = reads;
        }
    expect(found).toEqual({});
  });

  it('all other lists read no rows in vain, on their first page and in the middle', async () => {
    const { teamId, projectId, accountId } = place;
    const now = new Date();
    const middle = (prefix: string) => ({ limit: 100, after: `${prefix}_003000` });
    const versions = { limit: 100, before: 3_000 };
    const owned = { kind: 'api_key', accountId } as const;
    const of = { teamId, projectId, accountId };
    const job = 'job_000000000001';
    const anyJob = { teamId: null, projectId: null, kind: null, status: null };
    const lists: Record<string, () => Promise<unknown>> = {
      accounts: () => store.accounts.ofTeam(teamId),
      'all accounts': () => store.accounts.all(middle('usr')),
      'keys of an account': () => store.credentials.list({ ...owned, now }, page),
      'keys of an account, page': () => store.credentials.list({ ...owned, now }, middle('key')),
      'pending invites': () => store.invites.pending(teamId, now),
      projects: () => store.projects.all({ teamId }, page),
      'projects, page': () => store.projects.all({ teamId }, middle('prj')),
      'sizes of projects': () => store.projects.sizes({ teamId }, middle('prj')),
      'versions of a project': () => store.projects.versions(projectId, versions),
      models: () => store.models.all({ projectId }, page),
      'models, page': () => store.models.all({ projectId }, middle('mdl')),
      'sizes of models': () => store.models.sizes({ projectId }, middle('mdl')),
      'versions of a model': () => store.models.versions('mdl_000001', versions),
      'aliases of models': () => store.modelAliases.living(projectId),
      datasets: () => store.datasets.all({ projectId }, page),
      'datasets, page': () => store.datasets.all({ projectId }, middle('dst')),
      'versions of a dataset': () => store.datasets.versions('dst_000001', versions),
      conversations: () => store.conversations.list(of, page),
      'conversations, page': () => store.conversations.list(of, middle('cnv')),
      'recent conversations': () => store.conversations.recent(accountId, teamId, 100),
      'messages of a conversation': () => store.conversations.messages('cnv_000001', versions),
      'sizes of messages': () => store.conversations.messageSizes('cnv_000001', versions),
      'responses before': () => store.responses.lineage({ id: 'resp_006000', accountId }, 100),
      'batches of a response': () => store.responses.batches('resp_000001', 3_000, 20),
      'open response': () => store.responses.task('resp_000001'),
      'results of an evaluation': () => store.evaluations.results(job, { limit: 100, after: 3_000 }),
      'sizes of results': () => store.evaluations.resultSizes(job, { limit: 100, after: 3_000 }),
      'latest evaluation': () => store.evaluations.latest(projectId, 'dst_000002'),
      alerts: () => store.alerts.list(null, middle('alr')),
      'firing alerts': () => store.alerts.list('firing', page),
      'acknowledged alerts': () => store.alerts.list('acked', page),
    };
    for (const [name, only] of Object.entries({ all: {}, team: { teamId }, project: { teamId, projectId } }))
      lists[`jobs of ${name}, page`] = () =>
        store.jobs.list({ ...anyJob, ...only }, { limit: 100, after: 'job_000000009000' });
    const found: Record<string, string[]> = {};
    for (const [name, list] of Object.entries(lists)) {
      const reads = await waste(list);
      if (reads.length > 0) found[name] = reads;
    }
    expect(found).toEqual({});
  });
});
