import type { KeptPart } from '../../../domain/record/kept-part.js';

type Kept = KeptPart | null;

/** The types and values of the columns that come from the kept part. */
const columns: Readonly<Record<string, { readonly type: string; readonly of: (call: KeptPart) => unknown }>> = {
  answer_id: { type: 'text', of: ({ answerId }) => answerId },
  content: { type: 'text', of: ({ content }) => content },
  request: { type: 'json', of: ({ request }) => request },
  answer: { type: 'json', of: ({ answer }) => answer },
  truncated: { type: 'boolean', of: ({ truncated }) => truncated },
  expires_at: { type: 'timestamptz', of: ({ expiresAt }) => expiresAt },
  stored_bytes: { type: 'integer', of: ({ bytes }) => bytes },
  searched: { type: 'text', of: ({ searched }) => searched },
};

/**
 * The part of the statement that stores the ends of calls, which stores what their projects keep of them. `stored` has
 * the jobs, `$1` has their ids, and the parameters after `last` are those of `values`. The locks keep projects and accounts
 * from being deleted meanwhile.
 */
export const KeptParts = {
  sql: (last: number): string => `
    kept AS (
      INSERT INTO calls (id, team_id, project_id, account_id, key_id, model_id, kind, status, created_at, started_at,
                         finished_at, usage, cost, answer_id, content, request, answer, truncated, expires_at,
                         stored_bytes, search)
      SELECT stored.id, stored.team_id, stored.project_id, stored.requested_by, stored.usage->>'keyId', stored.model_id,
             stored.kind, stored.status, stored.created_at, stored.started_at, stored.finished_at, stored.usage,
             stored.cost, call.answer_id, call.content, call.request, call.answer, call.truncated, call.expires_at,
             call.stored_bytes,
             coalesce(strip(to_tsvector('simple', call.searched)), '') || array_to_tsvector(call_marks(
               stored.project_id, stored.created_at, stored.requested_by, stored.usage->>'keyId', stored.model_id,
               stored.status))
        FROM stored
        JOIN unnest($1::text[], ${Object.values(columns).map(({ type }, at) => `$${last + 1 + at}::${type}[]`)})
             AS call (id, ${Object.keys(columns)}) ON call.id = stored.id
        JOIN projects ON projects.id = stored.project_id JOIN accounts ON accounts.id = stored.requested_by
       WHERE call.content IS NOT NULL
       ORDER BY stored.id FOR KEY SHARE OF projects, accounts
          ON CONFLICT DO NOTHING)`,

  /** Returns a list for each column. */
  values: (calls: readonly Kept[]): unknown[][] =>
    Object.values(columns).map(({ of }) => calls.map((call) => (call ? of(call) : null))),
};
