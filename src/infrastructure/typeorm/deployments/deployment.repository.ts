import { injectable } from 'inversify';
import type { DeploymentRepository } from '../../../application/deployments/ports.js';
import { Deployment, type ModelFields } from '../../../domain/deployments/deployment.js';
import { notifying } from '../desired-state-changes.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

type Row = ModelFields & Pick<Deployment, 'id' | 'createdBy' | 'createdAt' | 'lastPort' | 'prices'>;

const deploymentOf = ({ id, createdBy, createdAt, lastPort, prices, ...fields }: Row): Deployment => ({
  ...Deployment.ofFields(fields),
  ...{ id, createdBy, createdAt, lastPort, prices },
});

const rowOf = ({ id, createdBy, createdAt, lastPort, prices, ...model }: Deployment): Row => ({
  ...Deployment.fields(model),
  ...{ id, createdBy, createdAt, lastPort, prices },
});

export const DeploymentTable = defineTable<Row>('deployments', {
  id: { type: 'text', primary: true },
  name: { type: 'text' },
  modelPath: { type: 'text', nullable: true },
  maxBatch: { type: 'integer', nullable: true },
  maxDelayMs: { type: 'integer', nullable: true },
  endpoint: { type: 'text', nullable: true },
  modelName: { type: 'text', nullable: true },
  modelVersion: { type: 'text', nullable: true },
  keySetting: { type: 'text', nullable: true },
  createdBy: { type: 'text', nullable: true },
  createdAt: { type: 'timestamptz' },
  lastPort: { type: 'integer' },
  prices: { type: 'json', nullable: true },
});

@injectable()
export class TypeOrmDeploymentRepository implements DeploymentRepository {
  private readonly table = () => this.unitOfWork.repository(DeploymentTable);

  /** The SQL of `find`. Every prediction runs it, so the ORM builds it only once. */
  private findSql: string | null = null;

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(deployment: Deployment): Promise<void> {
    await notifying(this.unitOfWork, this.table().insert(rowOf(deployment)));
  }

  async find(id: string): Promise<Deployment | null> {
    return (await this.findFor(id, []))?.deployment ?? null;
  }

  async findFor(
    id: string,
    scopes: readonly string[],
  ): Promise<{ deployment: Deployment; hasBudgets: boolean } | null> {
    this.findSql ??= this.selectOne(id);
    type Found = Row & { hasBudgets: boolean };
    const [row] = await this.unitOfWork.prepared<Found>('deployment', this.findSql, [id, scopes]);
    if (!row) return null;
    const { hasBudgets, ...fields } = row;
    return { deployment: deploymentOf(fields), hasBudgets };
  }

  async all(): Promise<Deployment[]> {
    return (await this.table().find({ order: { id: 'DESC' } })).map(deploymentOf);
  }

  count(): Promise<number> {
    return this.table().count();
  }

  remove(id: string): Promise<boolean> {
    return notifying(this.unitOfWork, changesOne(this.table().delete({ id })));
  }

  private selectOne(id: string): string {
    const fields = this.table().metadata.columns.map(({ propertyName }) => propertyName);
    const query = this.table().createQueryBuilder('one').select([]).where('one.id = :id', { id });
    for (const field of fields) query.addSelect(`one.${field}`, field);
    query.addSelect(
      'EXISTS (SELECT FROM budgets WHERE team_id = ANY ($2::text[]) AND scope_id = ANY ($2::text[]))',
      'hasBudgets',
    );
    return query.getQueryAndParameters()[0];
  }
}
