import { injectable } from 'inversify';
import type { ModelAliasRepository } from '../../../application/workspace/ports.js';
import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const ModelAliasTable = defineTable<AliasChange>({
  name: 'ModelAlias',
  tableName: 'model_aliases',
  columns: {
    projectId: { type: 'text', name: 'project_id', primary: true },
    alias: { type: 'text', primary: true },
    version: { type: 'integer', primary: true },
    modelId: { type: 'text', name: 'model_id', nullable: true },
    changedBy: { type: 'text', name: 'changed_by' },
    changedAt: { type: 'timestamptz', name: 'changed_at' },
  },
});

@injectable()
export class TypeOrmModelAliasRepository implements ModelAliasRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Two concurrent calls collide in the primary key; the unit of work repeats the later one. */
  append(change: AliasChange): Promise<boolean> {
    const { projectId, alias, version } = change;
    return notFoundIfMissing('model', () =>
      this.unitOfWork.run(async () => {
        if (await this.changes.existsBy({ projectId, alias, version })) return false;
        await this.changes.insert(change);
        return true;
      }),
    );
  }

  history(projectId: string, alias: string, limit: number): Promise<AliasChange[]> {
    return this.changes.find({ where: { projectId, alias }, order: { version: 'DESC' }, take: limit });
  }

  async living(projectId: string): Promise<LivingAlias[]> {
    const last = await this.changes
      .createQueryBuilder('change')
      .distinctOn(['change.alias'])
      .where({ projectId })
      .orderBy('change.alias')
      .addOrderBy('change.version', 'DESC')
      .getMany();
    const living = last.filter((change): change is LivingAlias => change.modelId !== null);
    return living.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
  }

  private get changes() {
    return this.unitOfWork.repository(ModelAliasTable);
  }
}
