import { injectable } from 'inversify';
import { type FindOptionsWhere, In, Raw } from 'typeorm';
import type { Page, SizedItem, VersionPage } from '../../../application/shared/ports.js';
import type {
  InProjectFilter,
  ModelAliasRepository,
  ModelRepository,
  ModelVersionEntry,
} from '../../../application/workspace/ports.js';
import { specBytes } from '../../../domain/shared/storage-quota.js';
import { Model, type ModelVersion } from '../../../domain/workspace/model.js';
import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { containing } from '../search.js';
import { notFoundIfMissing } from '../storage-errors.js';
import {
  changesOne,
  defineTable,
  newest,
  plus,
  type StoredBytes,
  sizesOf,
  storedBytes,
  type WithSpec,
} from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

type ModelRow = WithSpec<Model> & StoredBytes;
type VersionRow = WithSpec<ModelVersion>;

export const ModelTable = defineTable<ModelRow>('models', {
  id: { type: 'text', primary: true },
  projectId: { type: 'text' },
  requestId: { type: 'uuid' },
  version: { type: 'integer' },
  state: { type: 'text' },
  spec: { type: 'json' },
  requestedSpec: { type: 'text' },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  updatedAt: { type: 'timestamptz' },
  updatedBy: { type: 'text' },
  forkedFrom: { type: 'json', nullable: true },
  registeredAt: { type: 'timestamptz', nullable: true },
  storedBytes,
});

export const ModelVersionTable = defineTable<VersionRow>('model_versions', {
  modelId: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  spec: { type: 'json' },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
});

const LISTED: Readonly<Record<keyof ModelVersionEntry, true>> = {
  modelId: true,
  version: true,
  createdBy: true,
  createdAt: true,
};

@injectable()
export class TypeOrmModelRepository implements ModelRepository {
  private readonly models = () => this.unitOfWork.repository(ModelTable);
  private readonly history = () => this.unitOfWork.repository(ModelVersionTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Concurrent calls collide in the unique index of `requestId`. The unit of work then repeats the later call. */
  addOnce(model: Model): Promise<Model> {
    const { projectId, requestId } = model;
    return notFoundIfMissing('project', () =>
      this.unitOfWork.run(async () => {
        const stored = await this.findRequested(projectId, requestId);
        if (stored) return stored;
        await this.models().insert({ ...model, storedBytes: specBytes(model) });
        await this.history().insert(Model.versionOf(model));
        return model;
      }),
    );
  }

  findRequested(projectId: string, requestId: string): Promise<Model | null> {
    return this.models().findOneBy({ projectId, requestId }) as Promise<Model | null>;
  }

  find(projectId: string, id: string): Promise<Model | null> {
    return this.models().findOneBy({ projectId, id }) as Promise<Model | null>;
  }

  all(filter: InProjectFilter, page: Page): Promise<Model[]> {
    return this.models().find(newest(matching(filter), page)) as Promise<Model[]>;
  }

  sizes(filter: InProjectFilter, page: Page): Promise<SizedItem[]> {
    return sizesOf(this.models(), newest(matching(filter), page), ['spec']);
  }

  async registered(projectIds: readonly string[]): Promise<Model[]> {
    if (projectIds.length === 0) return [];
    const where = { projectId: In([...projectIds]), state: 'registered' as const };
    return this.models().find({ where, order: { id: 'DESC' } }) as Promise<Model[]>;
  }

  async registeredBytes(projectIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (projectIds.length === 0) return new Map();
    const where = { projectId: In([...projectIds]), state: 'registered' as const };
    const query = this.models().createQueryBuilder('one').where(where).groupBy('one.projectId');
    const sum = query.select('one.projectId', 'id').addSelect('sum(octet_length(CAST(one.spec AS text)))', 'bytes');
    return new Map((await sum.getRawMany()).map(({ id, bytes }) => [id, Number(bytes)]));
  }

  replace({ id, version, state }: Model, next: Model): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      const isNew = next.version !== version;
      const change = { ...next, ...(isNew && { storedBytes: plus(specBytes(next)) }) };
      if (!(await changesOne(this.models().update({ id, version, state }, change)))) return false;
      if (isNew) await this.history().insert(Model.versionOf(next));
      return true;
    });
  }

  remove({ id, version, state }: Model): Promise<boolean> {
    return changesOne(this.models().delete({ id, version, state }));
  }

  versions(modelId: string, page: VersionPage): Promise<ModelVersionEntry[]> {
    return this.history().find({ select: LISTED, ...newest<VersionRow>({ modelId }, page, 'version') });
  }

  version(modelId: string, version: number): Promise<ModelVersion | null> {
    return this.history().findOneBy({ modelId, version }) as Promise<ModelVersion | null>;
  }
}

const matching = ({ projectId, q }: InProjectFilter): FindOptionsWhere<ModelRow> => ({
  projectId,
  ...(q !== undefined && { spec: Raw((spec) => `${namesIn(spec)} ~ :name`, { name: containing(q) }) }),
});

/** The names that a spec may have, one in each line. */
export const namesIn = (spec: string) =>
  `concat_ws(E'\\n', ${spec} ->> 'name', ${spec} ->> 'model', ${spec} ->> 'path')`;

export const ModelAliasTable = defineTable<AliasChange>('model_aliases', {
  projectId: { type: 'text', primary: true },
  alias: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  modelId: { type: 'text', nullable: true },
  changedBy: { type: 'text' },
  changedAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmModelAliasRepository implements ModelAliasRepository {
  private readonly changes = () => this.unitOfWork.repository(ModelAliasTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Concurrent calls collide in the primary key. The unit of work then repeats the later call. */
  append(change: AliasChange): Promise<boolean> {
    const { projectId, alias, version } = change;
    return notFoundIfMissing('model', () =>
      this.unitOfWork.run(async () => {
        if (await this.changes().existsBy({ projectId, alias, version })) return false;
        await this.changes().insert(change);
        return true;
      }),
    );
  }

  history(projectId: string, alias: string, limit: number): Promise<AliasChange[]> {
    return this.changes().find(newest<AliasChange>({ projectId, alias }, { limit, before: null }, 'version'));
  }

  async living(projectId: string): Promise<LivingAlias[]> {
    const last = await this.changes()
      .createQueryBuilder('change')
      .distinctOn(['change.alias'])
      .where({ projectId })
      .orderBy('change.alias')
      .addOrderBy('change.version', 'DESC')
      .getMany();
    const living = last.filter((change): change is LivingAlias => change.modelId !== null);
    return living.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
  }
}
