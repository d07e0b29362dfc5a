import type { DataSource } from 'typeorm';
import { query } from './database.js';

export interface Fill {
  readonly teamId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly jobs: number;
  readonly entries: number;
  /** One of so many jobs is no call. */
  readonly rare?: number;
}

/** Nine of ten jobs are of the team. Few are no chats, few failed, and their kinds and ends are spread over all. */
const JOBS = `
  INSERT INTO jobs (id, team_id, kind, mode, status, project_id, model_id, requested_by, created_at, started_at,
                    finished_at, progress, error, usage, finish_number)
  SELECT 'job_' || lpad(n::text, 12, '0'), CASE WHEN n % 10 > 0 THEN $2 ELSE 'tea_other' END, kind,
         CASE WHEN kind IN ('external', 'evaluation') THEN 'async' ELSE 'sync' END, status,
         CASE WHEN n % 10 > 1 THEN $3 ELSE 'prj_' || n % 20 END, 'mdl_' || n % 20, 'usr_' || n % 50, ended, ended, ended,
         '{"done":1,"total":1}', CASE status WHEN 'failed' THEN 'inference_timeout: it took too long' END,
         json_build_object('keyId', 'key_' || n % 60, 'tokensIn', n % 500, 'tokensOut', n % 200, 'firstToken', null,
                           'failure', CASE status WHEN 'failed' THEN 'inference_timeout' END),
         nextval('job_finish_numbers')
    FROM (SELECT n, now() - interval '29 days' * (1 - n / $1::float) AS ended,
                 CASE WHEN n % (5 * $4::integer) = 7 THEN 'evaluation' WHEN n % $4::integer = 3 THEN 'external' ELSE 'chat' END AS kind,
                 CASE WHEN n % 50 = 3 THEN 'failed' WHEN n % (3 * $4::integer) = 9 THEN 'cancelled' ELSE 'succeeded' END AS status
            FROM generate_series(1, $1::integer) n) AS calls ORDER BY n`;

const ENTRIES = `
  INSERT INTO audit_entries (id, created_at, actor_kind, actor_id, action, object_id, team_id, details)
  SELECT 'aud_' || lpad(n::text, 12, '0'), now() - interval '1 year' * (1 - n / $1::float), 'account',
         CASE WHEN n % 100 = 5 THEN 'usr_rare' ELSE $3 END,
         CASE WHEN n % 4000 = 1 THEN 'model_alias.moved' ELSE 'api_key.minted' END, 'key_' || n,
         CASE WHEN n % 10 > 0 THEN $2 ELSE 'tea_other' END, '{}'
    FROM generate_series(1, $1::integer) n`;

const NAMES = `INSERT INTO usage_names (name) VALUES (''), ($1), ($2), ('prj_0'), ('usr_7'), ('usr_8'), ('usr_9')`;

/** Sums of 29 hours by minute and of 29 days by hour and day, of several scopes and groupings. */
const SUMS = `
  INSERT INTO usage_rollups (start, scope, "group", grouped_by, bucket, sums)
  SELECT date_trunc(bucket, now() - n * '1 minute'::interval * length), of_scope.id, of_group.id, grouped_by, code,
         '[1,1,1,{},[70,1],[]]'
    FROM generate_series(0, 29 * 60, 4) n,
         (VALUES ('minute', 0, 1), ('hour', 1, 24), ('day', 2, 24)) AS of_bucket (bucket, code, length),
         (VALUES (0, ''), (1, $2), (1, 'prj_0'), (2, 'prj_0')) AS grouping (grouped_by, name)
    JOIN usage_names of_group USING (name), usage_names of_scope
   WHERE of_scope.name IN ('', $1, 'usr_7', 'usr_8', 'usr_9') ON CONFLICT DO NOTHING`;

/** Fills a database with finished jobs of 29 days, usage, and audit entries of a year. */
export async function fillDatabase(
  url: string,
  { teamId, projectId, accountId, jobs, entries, rare = 1_000 }: Fill,
): Promise<void> {
  await query(url, JOBS, [jobs, teamId, projectId, rare]);
  await query(url, 'INSERT INTO usage_progress SELECT true, max(finish_number) FROM jobs');
  await query(url, NAMES, [teamId, projectId]);
  await query(url, SUMS, [teamId, projectId]);
  await query(url, ENTRIES, [entries, teamId, accountId]);
  await query(url, 'VACUUM ANALYZE');
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the SELECT statements that `work` sends over `source`, with their values. */
export async function selectsOf(source: DataSource, work: () => Promise<unknown>): Promise<[string, unknown[]][]> {
  const selects: [string, unknown[]][] = [];
  const logQuery = (text: string, values: unknown[] = []) => {
    if (/^\s*(SELECT|WITH)/.test(text)) selects.push([text, values]);
  };
  source.setOptions({ logging: ['query'], logger: { logQuery, logQueryError: () => undefined } as never });
  await work();
  source.setOptions({ logging: false });
  return selects;
}

/** Returns how many rows of tables the statement reads in vain, and its sequential scans of more than `most` rows. */
export async function wasteOf(url: string, [text, values]: [string, unknown[]], most: number): Promise<string[]> {
  const rows = await query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    url,
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  const waste: string[] = [];
  const look = (node: PlanNode): void => {
    const { 'Node Type': type, 'Relation Name': table, 'Actual Loops': loops } = node;
    const removed = (node['Rows Removed by Filter'] ?? 0) * loops;
    const read = node['Actual Rows'] * loops + removed;
    if (type.includes('Seq Scan') && read > most) waste.push(`${type} of ${read} rows of ${table}`);
    else if (removed > most) waste.push(`${type} of ${table} reads ${removed} rows in vain`);
    for (const part of node.Plans ?? []) look(part);
  };
  for (const row of rows) look(row['QUERY PLAN'][0].Plan);
  return waste;
}
