import { injectable } from 'inversify';
import type { FoundObject, WorkspaceSearch } from '../../../application/workspace/ports.js';
import { containing } from '../search.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { namesIn } from './model.repository.js';

const MOST_PROJECTS = 1_000;
const MOST_IN_PROJECT = 100;

/**
 * Selects the newest objects of a table in each of the team's projects, and of these the newest that fit. With the
 * condition as an equation, PostgreSQL would read the objects of all projects by id, once for each project.
 */
const within = (kind: string, table: string, name: string, names: string) => `
  (SELECT '${kind}' AS kind, part.id, part.name, own.id AS "projectId", own.name AS "projectName"
     FROM own CROSS JOIN LATERAL (
       SELECT id, ${name} AS name, ${names} AS names FROM ${table}
        WHERE (project_id, id) >= (own.id, '') AND (project_id, id) < (own.id, '~')
        ORDER BY project_id DESC, id DESC LIMIT ${MOST_IN_PROJECT}) AS part
    WHERE part.names ~ $2 ORDER BY part.id DESC LIMIT $3)`;

const FIND = `
  WITH own AS MATERIALIZED (
    SELECT id, name FROM projects WHERE team_id = $1 AND ($4::text[] IS NULL OR id = ANY ($4)) ORDER BY id DESC LIMIT ${MOST_PROJECTS})
  (SELECT 'project' AS kind, id, name, id AS "projectId", name AS "projectName"
     FROM own WHERE name ~ $2 ORDER BY id DESC LIMIT $3)
  UNION ALL ${within('dataset', 'datasets', 'name', 'name')}
  UNION ALL ${within('model', 'models', "coalesce(spec ->> 'name', spec ->> 'model', spec ->> 'path')", namesIn('spec'))}`;

@injectable()
export class TypeOrmWorkspaceSearch implements WorkspaceSearch {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  find(teamId: string, part: string, limit: number, projects: readonly string[] | null = null): Promise<FoundObject[]> {
    return this.unitOfWork.query<FoundObject>(FIND, [teamId, containing(part), limit, projects]);
  }
}
