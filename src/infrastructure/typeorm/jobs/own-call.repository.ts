import { injectable } from 'inversify';
import type { OwnCallRepository } from '../../../application/jobs/ports.js';
import type { Charge } from '../../../application/spend/ports.js';
import type { OwnCall } from '../../../domain/jobs/own-call.js';
import { amountsJson } from '../spend/taking.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface OwnCallRow extends OwnCall {
  /** The time that budgets count. */
  readonly seconds: string;
  readonly finishNumber: string;
}

export const OwnCallTable = defineTable<OwnCallRow>('own_calls', {
  id: { type: 'text', primary: true },
  jobId: { type: 'text' },
  teamId: { type: 'text' },
  projectId: { type: 'text', nullable: true },
  modelId: { type: 'text', nullable: true },
  requestedBy: { type: 'text' },
  status: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  finishedAt: { type: 'timestamptz' },
  usage: { type: 'json' },
  cost: { type: 'numeric', precision: 27, scale: 9, nullable: true },
  seconds: { type: 'numeric' },
  finishNumber: { type: 'bigint' },
});

const taken = (unit: string): string => `($12::jsonb->>'${unit}')::numeric`;
/** Adds a number to a field of `jobs.usage`. The number null leaves the field as it is. */
const plus = (field: string, number: string): string =>
  `'${field}', CASE WHEN ${number} IS NULL THEN job.usage->'${field}'
      ELSE to_json(coalesce((job.usage->>'${field}')::numeric, 0) + ${number}) END`;

/** A job of an earlier version has no usage, so it begins with the fields of the call. */
const APPEND = `
  WITH stored AS (
    INSERT INTO own_calls (id, job_id, team_id, project_id, model_id, requested_by, status, created_at, finished_at,
                           usage, cost, seconds, finish_number)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${taken('seconds')}, nextval('job_finish_numbers'))
        ON CONFLICT (id) DO NOTHING RETURNING *),
  total AS (
    UPDATE jobs job
       SET cost = CASE WHEN stored.cost IS NULL THEN job.cost ELSE coalesce(job.cost, 0) + stored.cost END,
           usage = (coalesce(job.usage::jsonb, jsonb_build_object('keyId', stored.usage->'keyId', 'firstToken', NULL, 'failure', NULL))
             || jsonb_build_object(
                  ${plus('tokensIn', "(stored.usage->>'tokensIn')::numeric")},
                  ${plus('tokensOut', "(stored.usage->>'tokensOut')::numeric")},
                  ${plus('calls', `trunc(${taken('calls')})`)},
                  ${plus('seconds', taken('seconds'))}))::json
      FROM stored WHERE job.id = stored.job_id)
  SELECT settle_holds(team_id, jsonb_build_array(jsonb_build_object(
           'id', id, 'taken', $12::jsonb, 'is_held', $13::boolean, 'at', created_at,
           'scopes', ARRAY[team_id, project_id, requested_by, usage->>'keyId'])))
    FROM stored`;

const FORGET = `
  DELETE FROM own_calls WHERE id = ANY (ARRAY(
    SELECT id FROM own_calls WHERE finished_at < $1 AND finish_number <= $2 ORDER BY finished_at LIMIT $3 FOR UPDATE SKIP LOCKED))
  RETURNING id`;

@injectable()
export class TypeOrmOwnCallRepository implements OwnCallRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append(call: OwnCall, { taken, isHeld }: Charge): Promise<boolean> {
    const { id, jobId, teamId, projectId, modelId, requestedBy, status, createdAt, finishedAt, usage, cost } = call;
    const about = [id, jobId, teamId, projectId, modelId, requestedBy, status, createdAt, finishedAt];
    const values = [...about, JSON.stringify(usage), cost, amountsJson(taken), isHeld];
    return (await this.unitOfWork.prepared('end of an own call', APPEND, values)).length === 1;
  }
}

/** Removes the oldest calls that finished before `before` and are rolled up. Returns their number. */
export const forgetOwnCalls = async (
  unitOfWork: TypeOrmUnitOfWork,
  { before, rolledUp, most }: { readonly before: Date; readonly rolledUp: string; readonly most: number },
): Promise<number> => (await unitOfWork.query(FORGET, [before, rolledUp, most])).length;
