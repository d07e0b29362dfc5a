import { Client } from 'pg';

const named = (kind: string, number: number) => `${kind}_00000000-0000-7000-8000-00000000000${number}`;

/** The ids of models and keys that many calls have, or few. */
export const names = {
  ...{ oftenModel: named('mdl', 1), secondModel: named('mdl', 2), rareModel: named('mdl', 3) },
  ...{ oftenKey: named('key', 1), rareKey: named('key', 2) },
};

interface Fill {
  readonly teamId: string;
  readonly projectId: string;
  readonly otherProjectId: string;
  readonly accountId: string;
  readonly colleagueId: string;
  readonly calls: number;
}

/**
 * The calls of 30 days, each with some 300 bytes of text: common and rare words of a vocabulary of 30,000. The word
 * `half` is in every second call, `early` only in calls of the first ten days, `rarely` in ten calls, and `foreign` in
 * all calls of the other project, but in none of this one. Every hundredth call has feedback.
 */
const CALLS = `
  INSERT INTO calls (id, answer_id, team_id, project_id, account_id, key_id, model_id, kind, status, created_at, started_at,
                     finished_at, usage, cost, content, request, answer, truncated, expires_at, stored_bytes, search)
  SELECT id, 'chatcmpl-' || substr(id, 5), $1, project, account, key, model, 'chat', status, at, at,
         at + interval '1 second',
         '{"keyId":null,"tokensIn":27,"tokensOut":7,"firstToken":null,"failure":null,"attempts":[{"modelId":"mdl_1","outcome":"answered","ms":1}]}',
         0.0001, 'full', json_build_object('max_tokens', null, 'messages', json_build_array(json_build_object('role', 'user',
         'content', text))), json_build_object('role', 'assistant', 'finish_reason', 'stop', 'content', said), false,
         now() + interval '60 days', 400,
         strip(to_tsvector('simple', text || ' ' || said)) || array_to_tsvector(call_marks(project, at, account, key, model, status))
    FROM (SELECT made.*, CASE WHEN n % 50021 = 3 THEN $6 ELSE $4 END AS account,
                 CASE WHEN n % 100003 = 5 THEN '${names.rareKey}' WHEN n % 2 = 0 THEN '${names.oftenKey}' END AS key,
                 CASE WHEN n < $5::integer / 3 AND n % 50021 = 7 THEN '${names.rareModel}' WHEN n % 4 = 0 THEN '${names.secondModel}' ELSE '${names.oftenModel}' END AS model,
                 CASE WHEN n % 100003 = 11 THEN 'cancelled' WHEN n % 50 = 3 THEN 'failed' ELSE 'succeeded' END AS status
            FROM (SELECT n, CASE WHEN n % 6 = 0 THEN $3 ELSE $2 END AS project,
                 now() - interval '30 days' * (1 - n / $5::float) - interval '1 second' AS at,
                 'job_' || lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS id,
                 words.text || CASE WHEN n % 2 = 1 THEN ' half' ELSE '' END
                 || CASE WHEN n < $5::integer / 3 THEN ' early' ELSE '' END
                 || CASE WHEN n % ($5::integer / 10) = 13 THEN ' rarely' ELSE '' END
                 || CASE WHEN n % 6 = 0 THEN ' foreign' ELSE '' END AS text, 'The answer is number ' || n % 5000 || '.' AS said
            FROM generate_series($7::integer, $8::integer) n,
                 LATERAL (SELECT string_agg('word' || floor(power(random(), 3) * 30000)::integer, ' ') AS text
                            FROM generate_series(1, 28 + n % 3)) words) made) marked`;

const FEEDBACK = `
  INSERT INTO call_feedback (id, call_id, project_id, account_id, score, label, bytes, created_at, is_current)
  SELECT 'fbk_' || id, id, project_id, account_id,
         CASE WHEN number % 2000 = 7 THEN -1 WHEN number % 3 = 0 THEN 0.5 ELSE 1 END,
         CASE WHEN number % 2000 = 9 THEN 'wrong' ELSE 'helpful' END, 9, now(), true
    FROM (SELECT row_number() OVER (ORDER BY id) AS number, id, project_id, account_id FROM calls
           WHERE right(id, 2) = '0a' AND created_at < now()) marked`;

const INDEXES = `
  SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = 'calls' AND indexname <> 'calls_pkey'`;

const PIECE = 50_000;
/** So many of the newest calls come after the indexes, as calls do in a service. */
const LATE = 20_000;

/** Fills the table of calls. One sixth of the calls is in the other project. */
export async function fillCalls(url: string, { calls, ...of }: Fill): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { teamId, projectId, otherProjectId, accountId, colleagueId } = of;
  const fixed = [teamId, projectId, otherProjectId, accountId, calls, colleagueId];
  const insert = async (first: number, last: number) => {
    for (let from = first; from <= last; from += PIECE)
      await client.query(CALLS, [...fixed, from, Math.min(last, from + PIECE - 1)]);
  };
  await client.query(`SET maintenance_work_mem = '400MB'; SET synchronous_commit = off`);
  const { rows } = await client.query<{ name: string; definition: string }>(INDEXES);
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  const early = calls - Math.min(LATE, Math.floor(calls / 2));
  await insert(1, early);
  for (const { definition } of rows) await client.query(definition);
  await insert(early + 1, calls);
  await client.query(FEEDBACK);
  await client.query('VACUUM ANALYZE calls, call_feedback');
  await client.end();
}

const EXPIRED = `
  INSERT INTO calls (id, answer_id, team_id, project_id, account_id, key_id, model_id, kind, status, created_at, started_at,
                     finished_at, usage, cost, content, request, answer, truncated, expires_at, stored_bytes, search)
  SELECT 'job_e' || id, answer_id, team_id, project_id, account_id, key_id, model_id, kind, status, created_at, started_at,
         finished_at, usage, cost, content, request, answer, truncated, now() - interval '1 day', stored_bytes, search
    FROM calls WHERE project_id = $1 LIMIT $2`;

/** Adds calls that have expired. They appear at once. */
export async function addExpired(url: string, projectId: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(EXPIRED, [projectId, count]);
  } finally {
    await client.end();
  }
}
