import { injectable } from 'inversify';
import { In } from 'typeorm';
import type {
  ChatModel,
  ConnectedProject,
  RuntimeConnection,
  RuntimeConnectionRepository,
} from '../../../application/chat/ports.js';
import { notifying } from '../desired-state-changes.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { ProjectTable } from '../workspace/project.repository.js';

export const RuntimeConnectionTable = defineTable<RuntimeConnection>('runtime_connections', {
  projectId: { type: 'text', primary: true },
  modelId: { type: 'text' },
  desired: { type: 'text', name: 'wanted' },
});

interface ProjectRow extends Pick<RuntimeConnection, 'desired'> {
  readonly teamId: string;
  readonly modelId: string | null;
}

@injectable()
export class TypeOrmRuntimeConnectionRepository implements RuntimeConnectionRepository {
  private readonly table = () => this.unitOfWork.repository(RuntimeConnectionTable);
  /** The SQL of `ofProject`. Every chat runs it, so the ORM builds it only once. */
  private ofProjectSql: string | null = null;

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  find(projectId: string): Promise<RuntimeConnection | null> {
    return this.table().findOneBy({ projectId });
  }

  async ofProject(projectId: string): Promise<ConnectedProject | null> {
    this.ofProjectSql ??= this.unitOfWork
      .repository(ProjectTable)
      .createQueryBuilder('project')
      .leftJoin(RuntimeConnectionTable.options.name, 'connection', 'connection.projectId = project.id')
      .select('project.teamId', 'teamId')
      .addSelect('connection.modelId', 'modelId')
      .addSelect('connection.desired', 'desired')
      .where('project.id = :projectId', { projectId })
      .getQueryAndParameters()[0];
    const [found] = await this.unitOfWork.prepared<ProjectRow>('runtime of a project', this.ofProjectSql, [projectId]);
    if (!found) return null;
    const { teamId, modelId, desired } = found;
    return { teamId, connection: modelId === null ? null : { projectId, modelId, desired } };
  }

  connectedProjects(teamId: string): Promise<ChatModel[]> {
    return this.unitOfWork
      .repository(ProjectTable)
      .createQueryBuilder('project')
      .innerJoin(RuntimeConnectionTable.options.name, 'connection', 'connection.projectId = project.id')
      .select(['project.id', 'project.createdAt'])
      .where({ teamId })
      .orderBy('project.id', 'DESC')
      .getMany();
  }

  async ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]> {
    return projectIds.length === 0 ? [] : this.table().findBy({ projectId: In([...projectIds]) });
  }

  async save(connection: RuntimeConnection): Promise<void> {
    await notifying(this.unitOfWork, this.table().upsert(connection, ['projectId']));
  }

  setDesired(projectId: string, desired: RuntimeConnection['desired']): Promise<boolean> {
    return notifying(this.unitOfWork, changesOne(this.table().update({ projectId }, { desired })));
  }

  remove(projectId: string): Promise<boolean> {
    return notifying(this.unitOfWork, changesOne(this.table().delete({ projectId })));
  }

  started(): Promise<RuntimeConnection[]> {
    return this.table().findBy({ desired: 'started' });
  }
}
