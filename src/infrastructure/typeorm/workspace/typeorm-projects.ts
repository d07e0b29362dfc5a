import { EntitySchema } from 'typeorm';
import type { Projects } from '../../../application/workspace/ports/projects.js';
import type { Project } from '../../../domain/workspace/project.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** The ORM's types do not end on a recursive type such as JSON. */
type ProjectRow = Omit<Project, 'spec'> & { readonly spec: object };

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

export class TypeOrmProjects implements Projects {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(project: Project): Promise<void> {
    await this.table.insert(project);
  }

  find(teamId: string, id: string): Promise<Project | null> {
    return this.table.findOneBy({ id, teamId }) as Promise<Project | null>;
  }

  async replace({ id, version }: Project, { id: _, ...next }: Project): Promise<boolean> {
    const { affected } = await this.table.update({ id, version }, next);
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.table(ProjectTable);
  }
}
