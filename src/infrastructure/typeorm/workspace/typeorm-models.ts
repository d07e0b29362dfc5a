import { EntitySchema, In } from 'typeorm';
import type { Models } from '../../../application/workspace/ports/models.js';
import type { Model } from '../../../domain/workspace/model.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** The ORM's types do not end on a recursive type such as JSON. */
type ModelRow = Omit<Model, 'spec'> & { readonly spec: object };

export const ModelTable = new EntitySchema<ModelRow>({
  name: 'Model',
  tableName: 'models',
  columns: {
    id: { type: 'text', primary: true },
    projectId: { type: 'text', name: 'project_id' },
    requestId: { type: 'uuid', name: 'request_id' },
    version: { type: 'integer' },
    state: { type: 'text' },
    spec: { type: 'json' },
    requestedSpec: { type: 'text', name: 'requested_spec' },
    createdBy: { type: 'text', name: 'created_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    updatedAt: { type: 'timestamptz', name: 'updated_at' },
    updatedBy: { type: 'text', name: 'updated_by' },
    forkedFrom: { type: 'json', name: 'forked_from', nullable: true },
    registeredAt: { type: 'timestamptz', name: 'registered_at', nullable: true },
  },
});

export class TypeOrmModels implements Models {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async addOnce(model: Model): Promise<Model> {
    await this.table.createQueryBuilder().insert().values(model).orIgnore().updateEntity(false).execute();
    const { projectId, requestId } = model;
    return (await this.table.findOneByOrFail({ projectId, requestId })) as Model;
  }

  find(projectId: string, id: string): Promise<Model | null> {
    return this.table.findOneBy({ projectId, id }) as Promise<Model | null>;
  }

  async registered(projectIds: readonly string[]): Promise<Model[]> {
    if (projectIds.length === 0) return [];
    const where = { projectId: In([...projectIds]), state: 'registered' as const };
    return this.table.find({ where, order: { id: 'DESC' as const } }) as Promise<Model[]>;
  }

  async replace({ id, version, state }: Model, { id: _, ...next }: Model): Promise<boolean> {
    const { affected } = await this.table.update({ id, version, state }, next);
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.table(ModelTable);
  }
}
