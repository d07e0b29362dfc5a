import { injectable } from 'inversify';
import { type InstanceReports, instanceLimits, type NumberedReport } from '../../../application/operations/ports.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** TypeORM writes a bigint as text. */
interface ReportRow extends Omit<NumberedReport, 'memoryBytes'> {
  readonly memoryBytes: string;
  readonly reportedAt: Date;
}

export const InstanceTable = defineTable<ReportRow>('instances', {
  number: { type: 'integer', primary: true },
  name: { type: 'text' },
  version: { type: 'text' },
  since: { type: 'timestamptz' },
  state: { type: 'text' },
  runtimes: { type: 'json' },
  deployments: { type: 'json' },
  waitingCalls: { type: 'integer' },
  memoryBytes: { type: 'bigint' },
  reportedAt: { type: 'timestamptz' },
});

/** Each call of `GET /v1/status` runs one of these, so they are prepared. */
const living = (which: string) => `
  SELECT number, name, version, since, state, deployments, waiting_calls AS "waitingCalls",
         memory_bytes::float AS "memoryBytes",
         coalesce((SELECT json_agg(one ORDER BY place) FROM (
           SELECT * FROM json_array_elements(runtimes) WITH ORDINALITY AS reported (one, place)
            ${which} ORDER BY place LIMIT $3) AS listed), '[]'
         ) AS runtimes
    FROM instances WHERE reported_at > now() - $1 * interval '1 millisecond' ORDER BY number LIMIT $2`;

const OF_PROJECTS = living(`WHERE one ->> 'projectId' IN (SELECT unnest($4::text[]))`);
const OF_ALL = living('');

@injectable()
export class TypeOrmInstanceReports implements InstanceReports {
  private readonly table = () => this.unitOfWork.repository(InstanceTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async save(report: NumberedReport): Promise<void> {
    const row = { ...report, memoryBytes: String(report.memoryBytes), reportedAt: () => 'now()' };
    await this.table().upsert(row, ['number']);
  }

  living(projects: readonly string[] | null): Promise<NumberedReport[]> {
    const { livesMs, instances, listed } = instanceLimits;
    const limits = [livesMs, instances, listed];
    return projects
      ? this.unitOfWork.prepared('living, with projects', OF_PROJECTS, [...limits, projects])
      : this.unitOfWork.prepared('living, with all', OF_ALL, limits);
  }

  async numbers(): Promise<number[]> {
    const rows = await this.table().find({ select: { number: true } });
    return rows.map(({ number }) => number);
  }

  async remove(number: number): Promise<void> {
    await this.table().delete({ number });
  }
}
