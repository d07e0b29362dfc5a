import { injectable } from 'inversify';
import { EntitySchema, In, LessThan } from 'typeorm';
import type { ModelRepository } from '../../../application/workspace/ports.js';
import { NotFound } from '../../../domain/shared/errors.js';
import type { Model, ModelVersion } from '../../../domain/workspace/model.js';
import { isForeignKeyViolation } from '../storage-errors.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** The ORM's types do not end on a recursive type such as JSON. */
type Plain<Row extends { spec: unknown }> = Omit<Row, 'spec'> & { readonly spec: object };

export const ModelTable = new EntitySchema<Plain<Model>>({
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

export const ModelVersionTable = new EntitySchema<Plain<ModelVersion>>({
  name: 'ModelVersion',
  tableName: 'model_versions',
  columns: {
    modelId: { type: 'text', name: 'model_id', primary: true },
    version: { type: 'integer', primary: true },
    spec: { type: 'json' },
    createdBy: { type: 'text', name: 'created_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
});

/** In the same statement as the model itself; a registration leaves the version, whose row is there already. */
const withVersion = (write: string) => `
  WITH written AS (${write} RETURNING id, version, spec, updated_by, updated_at),
       kept AS (
         INSERT INTO model_versions (model_id, version, spec, created_by, created_at)
         SELECT id, version, spec, updated_by, updated_at FROM written
         ON CONFLICT DO NOTHING)
  SELECT id FROM written`;

const ADD = withVersion(`
  INSERT INTO models (id, project_id, request_id, version, state, spec, requested_spec, created_by, created_at,
                      updated_at, updated_by, forked_from, registered_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  ON CONFLICT DO NOTHING`);

const REPLACE = withVersion(`
  UPDATE models SET version = $4, state = $5, spec = $6, updated_at = $7, updated_by = $8, registered_at = $9
   WHERE id = $1 AND version = $2 AND state = $3`);

@injectable()
export class TypeOrmModelRepository implements ModelRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async addOnce(model: Model): Promise<Model> {
    const { projectId, requestId } = model;
    for (;;) {
      await this.add(model);
      const stored = await this.table.findOneBy({ projectId, requestId });
      if (stored) return stored as Model; // else the one that was there has been removed in between
    }
  }

  find(projectId: string, id: string): Promise<Model | null> {
    return this.table.findOneBy({ projectId, id }) as Promise<Model | null>;
  }

  all(projectId: string, { limit, after }: Parameters<ModelRepository['all']>[1]): Promise<Model[]> {
    const where = { projectId, ...(after !== null && { id: LessThan(after) }) };
    return this.table.find({ where, order: { id: 'DESC' }, take: limit }) as Promise<Model[]>;
  }

  async registered(projectIds: readonly string[]): Promise<Model[]> {
    if (projectIds.length === 0) return [];
    const where = { projectId: In([...projectIds]), state: 'registered' as const };
    return this.table.find({ where, order: { id: 'DESC' as const } }) as Promise<Model[]>;
  }

  async replace({ id, version, state }: Model, next: Model): Promise<boolean> {
    const values = [next.version, next.state, JSON.stringify(next.spec), next.updatedAt, next.updatedBy];
    const all = [id, version, state, ...values, next.registeredAt];
    return (await this.unitOfWork.prepared('replace model', REPLACE, all)).length === 1;
  }

  async remove({ id, version, state }: Model): Promise<boolean> {
    const { affected } = await this.table.delete({ id, version, state });
    return affected === 1;
  }

  versions(modelId: string, { limit, before }: Parameters<ModelRepository['versions']>[1]) {
    const where = { modelId, ...(before !== null && { version: LessThan(before) }) };
    const select = { modelId: true, version: true, createdBy: true, createdAt: true };
    return this.kept.find({ select, where, order: { version: 'DESC' }, take: limit });
  }

  version(modelId: string, version: number): Promise<ModelVersion | null> {
    return this.kept.findOneBy({ modelId, version }) as Promise<ModelVersion | null>;
  }

  private async add(model: Model): Promise<void> {
    const { id, projectId, requestId, version, state, requestedSpec, createdBy, createdAt } = model;
    const { updatedAt, updatedBy, registeredAt } = model;
    const [spec, forkedFrom] = [model.spec, model.forkedFrom].map((value) => value && JSON.stringify(value));
    const made = [id, projectId, requestId, version, state, spec, requestedSpec, createdBy, createdAt];
    try {
      await this.unitOfWork.prepared('add model', ADD, [...made, updatedAt, updatedBy, forkedFrom, registeredAt]);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new NotFound('project') : error;
    }
  }

  private get table() {
    return this.unitOfWork.table(ModelTable);
  }

  private get kept() {
    return this.unitOfWork.table(ModelVersionTable);
  }
}
