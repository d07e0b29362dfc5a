import { injectable } from 'inversify';
import { Raw } from 'typeorm';
import { type InstanceReports, instanceLimits, type NumberedReport } from '../../../application/operations/ports.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** PostgreSQL returns a bigint as text. */
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
  reportedAt: { type: 'timestamptz', select: false },
});

const isAlive = Raw((column) => `${column} > now() - :lives * interval '1 millisecond'`, {
  lives: instanceLimits.livesMs,
});

@injectable()
export class TypeOrmInstanceReports implements InstanceReports {
  private readonly table = () => this.unitOfWork.repository(InstanceTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async save(report: NumberedReport): Promise<void> {
    const row = { ...report, memoryBytes: String(report.memoryBytes), reportedAt: () => 'now()' };
    await this.table().upsert(row, ['number']);
  }

  async living(): Promise<NumberedReport[]> {
    const options = {
      where: { reportedAt: isAlive },
      order: { number: 'ASC' },
      take: instanceLimits.instances,
    } as const;
    const rows = await this.table().find(options);
    return rows.map((row) => ({ ...row, memoryBytes: Number(row.memoryBytes) }));
  }

  async numbers(): Promise<number[]> {
    const rows = await this.table().find({ select: { number: true } });
    return rows.map(({ number }) => number);
  }

  async remove(number: number): Promise<void> {
    await this.table().delete({ number });
  }
}
