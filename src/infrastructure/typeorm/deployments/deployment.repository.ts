import { injectable } from 'inversify';
import type { DeploymentRepository } from '../../../application/deployments/ports.js';
import type { Deployment } from '../../../domain/deployments/deployment.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const DeploymentTable = defineTable<Deployment>('deployments', {
  id: { type: 'text', primary: true },
  name: { type: 'text' },
  modelPath: { type: 'text' },
  maxBatch: { type: 'integer', nullable: true },
  maxDelayMs: { type: 'integer', nullable: true },
  createdBy: { type: 'text', nullable: true },
  createdAt: { type: 'timestamptz' },
  lastPort: { type: 'integer' },
});

@injectable()
export class TypeOrmDeploymentRepository implements DeploymentRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(deployment: Deployment): Promise<void> {
    await this.table.insert(deployment);
  }

  find(id: string): Promise<Deployment | null> {
    return this.table.findOneBy({ id });
  }

  all(): Promise<Deployment[]> {
    return this.table.find({ order: { id: 'DESC' } });
  }

  count(): Promise<number> {
    return this.table.count();
  }

  async remove(id: string): Promise<boolean> {
    const { affected } = await this.table.delete({ id });
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.repository(DeploymentTable);
  }
}
