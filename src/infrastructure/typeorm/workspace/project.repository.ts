import { injectable } from 'inversify';
import { EntitySchema, LessThan } from 'typeorm';
import type { ProjectRepository, ProjectVersionEntry } from '../../../application/workspace/ports.js';
import type { Project, ProjectVersion } from '../../../domain/workspace/project.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** The ORM's types do not end on a recursive type such as JSON. */
type ProjectRow = Omit<Project, 'spec'> & { readonly spec: object };
type VersionRow = Omit<ProjectVersion, 'spec'> & { readonly projectId: string; readonly spec: object };

export const ProjectTable = new EntitySchema<ProjectRow>({
  name: 'Project',
  tableName: 'projects',
  columns: {
    id: { type: 'text', primary: true },
    teamId: { type: 'text', name: 'team_id' },
    name: { type: 'text' },
    version: { type: 'integer' },
    spec: { type: 'json' },
    createdBy: { type: 'text', name: 'created_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    updatedAt: { type: 'timestamptz', name: 'updated_at' },
    updatedBy: { type: 'text', name: 'updated_by' },
    reviewedVersion: { type: 'integer', name: 'reviewed_version', nullable: true },
  },
});

export const ProjectVersionTable = new EntitySchema<VersionRow>({
  name: 'ProjectVersion',
  tableName: 'project_versions',
  columns: {
    projectId: { type: 'text', name: 'project_id', primary: true },
    version: { type: 'integer', primary: true },
    name: { type: 'text' },
    spec: { type: 'json' },
    createdBy: { type: 'text', name: 'created_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
});

/** One statement each, so that a project is never without its history. */
const KEEP_VERSION = `INSERT INTO project_versions (project_id, version, name, spec, created_by, created_at)
  SELECT id, version, name, spec, updated_by, updated_at FROM written`;
const FIND = `
  SELECT id, team_id AS "teamId", name, version, spec, created_by AS "createdBy", created_at AS "createdAt",
    updated_at AS "updatedAt", updated_by AS "updatedBy", reviewed_version AS "reviewedVersion"
  FROM projects WHERE id = $1 AND team_id = $2`;
const NAMES = 'SELECT id, name FROM projects WHERE team_id = $1 ORDER BY id DESC LIMIT $2';
const ADD = `
  WITH written AS (
    INSERT INTO projects (id, team_id, name, version, spec, created_by, created_at, updated_at, updated_by, reviewed_version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING *
  ) ${KEEP_VERSION}`;
const REPLACE = `
  WITH written AS (
    UPDATE projects SET name = $3, version = $4, spec = $5, updated_at = $6, updated_by = $7
    WHERE id = $1 AND version = $2 RETURNING *
  ) ${KEEP_VERSION} RETURNING version`;

@injectable()
export class TypeOrmProjectRepository implements ProjectRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(project: Project): Promise<void> {
    const { id, teamId, name, version, spec, createdBy, createdAt, updatedAt, updatedBy, reviewedVersion } = project;
    const values = [id, teamId, name, version, JSON.stringify(spec), createdBy, createdAt, updatedAt, updatedBy];
    await this.unitOfWork.prepared('add project', ADD, [...values, reviewedVersion]);
  }

  async find(teamId: string, id: string): Promise<Project | null> {
    const [project] = await this.unitOfWork.prepared<Project>('find project', FIND, [id, teamId]);
    return project ?? null;
  }

  all(teamId: string, { limit, after }: Parameters<ProjectRepository['all']>[1]): Promise<Project[]> {
    const where = { teamId, ...(after !== null && { id: LessThan(after) }) };
    return this.table.find({ where, order: { id: 'DESC' }, take: limit }) as Promise<Project[]>;
  }

  names(teamId: string, limit: number): Promise<Pick<Project, 'id' | 'name'>[]> {
    return this.unitOfWork.prepared('project names', NAMES, [teamId, limit]);
  }

  async replace({ id, version }: Project, next: Project): Promise<boolean> {
    const values = [next.name, next.version, JSON.stringify(next.spec), next.updatedAt, next.updatedBy];
    const written = await this.unitOfWork.prepared('replace project', REPLACE, [id, version, ...values]);
    return written.length === 1;
  }

  async noteReview({ id, version, reviewedVersion }: Parameters<ProjectRepository['noteReview']>[0]): Promise<boolean> {
    const { affected } = await this.table.update({ id, version }, { reviewedVersion });
    return affected === 1;
  }

  async remove({ id, version }: Parameters<ProjectRepository['remove']>[0]): Promise<boolean> {
    const { affected } = await this.table.delete({ id, version });
    return affected === 1;
  }

  versions(
    projectId: string,
    { limit, before }: Parameters<ProjectRepository['versions']>[1],
  ): Promise<ProjectVersionEntry[]> {
    return this.history.find({
      select: { version: true, name: true, createdBy: true, createdAt: true },
      where: { projectId, ...(before !== null && { version: LessThan(before) }) },
      order: { version: 'DESC' },
      take: limit,
    });
  }

  async version(projectId: string, version: number): Promise<ProjectVersion | null> {
    const row = await this.history.findOneBy({ projectId, version });
    if (!row) return null;
    const { projectId: _, ...kept } = row;
    return kept as ProjectVersion;
  }

  private get table() {
    return this.unitOfWork.table(ProjectTable);
  }

  private get history() {
    return this.unitOfWork.table(ProjectVersionTable);
  }
}
