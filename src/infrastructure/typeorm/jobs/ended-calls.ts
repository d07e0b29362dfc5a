/** The calls that have ended, of callers and of the service itself, with the figures that usage and budgets count. */
export const ENDED_CALLS = `(
  SELECT id, team_id, project_id, model_id, requested_by, status, created_at, finished_at, usage, cost, finish_number,
         coalesce((usage->>'seconds')::numeric, round(extract(epoch FROM finished_at - started_at)::numeric, 3)) AS seconds
    FROM jobs WHERE mode = 'sync' AND finish_number IS NOT NULL AND usage IS NOT NULL
   UNION ALL
  SELECT id, team_id, project_id, model_id, requested_by, status, created_at, finished_at, usage, cost, finish_number, seconds
    FROM own_calls)`;
