import { injectable } from 'inversify';
import { In } from 'typeorm';
import type {
  ChatModel,
  ConnectedProject,
  RuntimeConnection,
  RuntimeConnectionRepository,
} from '../../../application/chat/ports.js';
import type { Json } from '../../../domain/workspace/json.js';
import { notifying } from '../desired-state-changes.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const RuntimeConnectionTable = defineTable<RuntimeConnection>('runtime_connections', {
  projectId: { type: 'text', primary: true },
  modelId: { type: 'text' },
  fallbacks: { type: 'json' },
  split: { type: 'json', nullable: true },
  desired: { type: 'text', name: 'wanted' },
});

/** This SQL is written by hand. Every chat runs it, so it is a prepared statement, which the ORM cannot make. */
const OF_TEAM = `
  SELECT p.id AS "projectId", c.model_id AS "modelId", c.fallbacks, c.split, c.wanted AS desired,
         EXISTS (SELECT FROM budgets WHERE team_id = $1 AND scope_id = ANY ($3::text[] || p.id)) AS "hasBudgets",
         p.spec->'record' AS record
    FROM projects p LEFT JOIN runtime_connections c ON c.project_id = p.id
   WHERE p.team_id = $1`;
const OF_PROJECT = `${OF_TEAM} AND p.id = $2`;
const MODELS = `
  SELECT p.id, p.created_at AS "createdAt",
         CASE WHEN EXISTS (SELECT FROM projects o WHERE o.team_id = $1 AND o.id <> p.id AND p.name IN (o.name, o.id))
              THEN p.id ELSE p.name END AS name
    FROM projects p JOIN runtime_connections c ON c.project_id = p.id
   WHERE p.team_id = $1 ORDER BY p.id DESC`;
const OF_MODEL = `${OF_TEAM} AND (p.id = $2 OR p.name = $2) ORDER BY p.id = $2 DESC LIMIT 2`;

interface ProjectRow extends Omit<RuntimeConnection, 'modelId'> {
  readonly hasBudgets: boolean;
  readonly record: Json;
  readonly modelId: string | null;
}

const connectedProjectOf = ({ hasBudgets, record, modelId, ...row }: ProjectRow): ConnectedProject => ({
  ...{ projectId: row.projectId, hasBudgets, record },
  connection: modelId === null ? null : { ...row, modelId },
});

@injectable()
export class TypeOrmRuntimeConnectionRepository implements RuntimeConnectionRepository {
  private readonly table = () => this.unitOfWork.repository(RuntimeConnectionTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  find(projectId: string): Promise<RuntimeConnection | null> {
    return this.table().findOneBy({ projectId });
  }

  async ofProject(teamId: string, projectId: string, scopes: readonly string[] = []): Promise<ConnectedProject | null> {
    const values = [teamId, projectId, scopes];
    const [row] = await this.unitOfWork.prepared<ProjectRow>('runtime of a project', OF_PROJECT, values);
    return row ? connectedProjectOf(row) : null;
  }

  async ofModel(teamId: string, model: string, scopes: readonly string[] = []): Promise<ConnectedProject | null> {
    const rows = await this.unitOfWork.prepared<ProjectRow>('runtime of a model', OF_MODEL, [teamId, model, scopes]);
    const [first, second] = rows;
    return first && (first.projectId === model || !second) ? connectedProjectOf(first) : null;
  }

  connectedProjects(teamId: string): Promise<ChatModel[]> {
    return this.unitOfWork.prepared<ChatModel>('models of a team', MODELS, [teamId]);
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
