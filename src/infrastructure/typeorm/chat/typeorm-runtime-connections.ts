import { EntitySchema, In } from 'typeorm';
import type { RuntimeConnection, RuntimeConnections } from '../../../application/chat/ports/runtime-connections.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const RuntimeConnectionTable = new EntitySchema<RuntimeConnection>({
  name: 'RuntimeConnection',
  tableName: 'runtime_connections',
  columns: {
    projectId: { type: 'text', name: 'project_id', primary: true },
    modelId: { type: 'text', name: 'model_id' },
    wanted: { type: 'text' },
  },
});

const FIND = `
  SELECT project_id AS "projectId", model_id AS "modelId", wanted FROM runtime_connections WHERE project_id = $1`;

const OF_TEAM = `
  SELECT p.id AS "projectId", c.model_id AS "modelId", c.wanted
    FROM projects p LEFT JOIN runtime_connections c ON c.project_id = p.id
   WHERE p.id = $1 AND p.team_id = $2`;

export class TypeOrmRuntimeConnections implements RuntimeConnections {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async find(projectId: string): Promise<RuntimeConnection | null> {
    const [found] = await this.unitOfWork.prepared<RuntimeConnection>('find runtime connection', FIND, [projectId]);
    return found ?? null;
  }

  async ofTeam(teamId: string, projectId: string): ReturnType<RuntimeConnections['ofTeam']> {
    const values = [projectId, teamId];
    const [found] = await this.unitOfWork.prepared<RuntimeConnection>('runtime of project', OF_TEAM, values);
    return found ? { connection: found.modelId === null ? null : found } : null;
  }

  async ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]> {
    return projectIds.length === 0 ? [] : this.table.findBy({ projectId: In([...projectIds]) });
  }

  async save(connection: RuntimeConnection): Promise<void> {
    await this.table.upsert(connection, ['projectId']);
  }

  async want(projectId: string, wanted: RuntimeConnection['wanted']): Promise<boolean> {
    const { affected } = await this.table.update({ projectId }, { wanted });
    return affected === 1;
  }

  async remove(projectId: string): Promise<void> {
    await this.table.delete({ projectId });
  }

  started(): Promise<RuntimeConnection[]> {
    return this.table.findBy({ wanted: 'started' });
  }

  private get table() {
    return this.unitOfWork.table(RuntimeConnectionTable);
  }
}
