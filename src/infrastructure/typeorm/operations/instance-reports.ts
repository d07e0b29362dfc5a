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

/** Each call of `GET /v1/status` runs this, so it is prepared. */
const LIVING = `
  SELECT number, name, version, since, state, runtimes, deployments, waiting_calls AS "waitingCalls",
         memory_bytes::float AS "memoryBytes"
    FROM instances WHERE reported_at > now() - $1 * interval '1 millisecond' ORDER BY number LIMIT $2`;

@injectable()
export class TypeOrmInstanceReports implements InstanceReports {
  private readonly table = () => this.unitOfWork.repository(InstanceTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async save(report: NumberedReport): Promise<void> {
    const row = { ...report, memoryBytes: String(report.memoryBytes), reportedAt: () => 'now()' };
    await this.table().upsert(row, ['number']);
  }

  living(): Promise<NumberedReport[]> {
    const { livesMs, instances } = instanceLimits;
    return this.unitOfWork.prepared('living instances', LIVING, [livesMs, instances]);
  }

  async numbers(): Promise<number[]> {
    const rows = await this.table().find({ select: { number: true } });
    return rows.map(({ number }) => number);
  }

  async remove(number: number): Promise<void> {
    await this.table().delete({ number });
  }
}
