import { injectable } from 'inversify';
import { In } from 'typeorm';
import type {
  ConnectedProject,
  RuntimeConnection,
  RuntimeConnectionRepository,
} from '../../../application/chat/ports.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { ProjectTable } from '../workspace/project.repository.js';

export const RuntimeConnectionTable = defineTable<RuntimeConnection>({
  name: 'RuntimeConnection',
  tableName: 'runtime_connections',
  columns: {
    projectId: { type: 'text', name: 'project_id', primary: true },
    modelId: { type: 'text', name: 'model_id' },
    wanted: { type: 'text' },
    process: { type: 'integer', nullable: true },
  },
});

const FIND = `
  SELECT project_id AS "projectId", model_id AS "modelId", wanted, process FROM runtime_connections
   WHERE project_id = $1`;

const CLAIM = `
  UPDATE runtime_connections SET process = $3 WHERE project_id = $1 AND process IS NOT DISTINCT FROM $2
  RETURNING project_id AS "projectId", model_id AS "modelId", wanted, process`;

@injectable()
export class TypeOrmRuntimeConnectionRepository implements RuntimeConnectionRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async find(projectId: string): Promise<RuntimeConnection | null> {
    const [found] = await this.unitOfWork.prepared<RuntimeConnection>('find runtime connection', FIND, [projectId]);
    return found ?? null;
  }

  async ofProject(projectId: string): Promise<ConnectedProject | null> {
    const [connection, project] = await Promise.all([
      this.find(projectId),
      this.unitOfWork
        .repository(ProjectTable)
        .findOne({ select: { id: true, teamId: true }, where: { id: projectId } }),
    ]);
    return project && { teamId: project.teamId, connection };
  }

  async ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]> {
    return projectIds.length === 0 ? [] : this.table.findBy({ projectId: In([...projectIds]) });
  }

  async save({ projectId, modelId, wanted }: Omit<RuntimeConnection, 'process'>): Promise<void> {
    await this.table.upsert({ projectId, modelId, wanted }, ['projectId']);
  }

  async want(projectId: string, wanted: RuntimeConnection['wanted']): Promise<boolean> {
    const { affected } = await this.table.update({ projectId }, { wanted });
    return affected === 1;
  }

  async claim(projectId: string, from: number | null, to: number | null): Promise<RuntimeConnection | null> {
    const [claimed] = await this.unitOfWork.prepared<RuntimeConnection>('claim runtime', CLAIM, [projectId, from, to]);
    return claimed ?? null;
  }

  async release(process: number): Promise<void> {
    await this.table.update({ process }, { process: null });
  }

  async remove(projectId: string): Promise<boolean> {
    const { affected } = await this.table.delete({ projectId });
    return affected === 1;
  }

  started(): Promise<RuntimeConnection[]> {
    return this.table.findBy({ wanted: 'started' });
  }

  private get table() {
    return this.unitOfWork.table(RuntimeConnectionTable);
  }
}
