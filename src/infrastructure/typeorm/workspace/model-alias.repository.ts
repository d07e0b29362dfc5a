import { injectable } from 'inversify';
import { EntitySchema } from 'typeorm';
import type { ModelAliasRepository } from '../../../application/workspace/ports.js';
import { NotFound } from '../../../domain/shared/errors.js';
import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { isForeignKeyViolation } from '../storage-errors.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const ModelAliasTable = new EntitySchema<AliasChange>({
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

const APPEND = `
  INSERT INTO model_aliases (project_id, alias, version, model_id, changed_by, changed_at)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING version`;

/** Jumps along the primary key from the last change of one alias to that of the next, however long the histories are. */
const LIVING = `
  WITH RECURSIVE last AS (
    (SELECT * FROM model_aliases WHERE project_id = $1 ORDER BY alias DESC, version DESC LIMIT 1)
    UNION ALL
    SELECT next.* FROM last, LATERAL (
      SELECT * FROM model_aliases WHERE project_id = $1 AND alias < last.alias ORDER BY alias DESC, version DESC LIMIT 1
    ) next
  )
  SELECT project_id AS "projectId", alias, version, model_id AS "modelId", changed_by AS "changedBy",
         changed_at AS "changedAt"
    FROM last WHERE model_id IS NOT NULL ORDER BY changed_at DESC, alias`;

@injectable()
export class TypeOrmModelAliasRepository implements ModelAliasRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append({ projectId, alias, version, modelId, changedBy, changedAt }: AliasChange): Promise<boolean> {
    const values = [projectId, alias, version, modelId, changedBy, changedAt];
    try {
      return (await this.unitOfWork.prepared('append alias', APPEND, values)).length === 1;
    } catch (error) {
      throw isForeignKeyViolation(error) ? new NotFound('model') : error;
    }
  }

  history(projectId: string, alias: string, most: number): Promise<AliasChange[]> {
    return this.table.find({ where: { projectId, alias }, order: { version: 'DESC' }, take: most });
  }

  living(projectId: string): Promise<LivingAlias[]> {
    return this.unitOfWork.prepared('living aliases', LIVING, [projectId]);
  }

  private get table() {
    return this.unitOfWork.table(ModelAliasTable);
  }
}
