import { injectable } from 'inversify';
import { type FindOptionsWhere, Raw } from 'typeorm';
import type { Page, SizedItem, VersionPage } from '../../../application/shared/ports.js';
import type { ProjectFilter, ProjectRepository, ProjectVersionEntry } from '../../../application/workspace/ports.js';
import { specBytes } from '../../../domain/shared/storage-quota.js';
import { Project, type ProjectVersion } from '../../../domain/workspace/project.js';
import { notifying } from '../desired-state-changes.js';
import { containing } from '../search.js';
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

type ProjectRow = WithSpec<Project> & StoredBytes;
type VersionRow = WithSpec<ProjectVersion> & { readonly projectId: string };

export const ProjectTable = defineTable<ProjectRow>('projects', {
  id: { type: 'text', primary: true },
  teamId: { type: 'text' },
  name: { type: 'text' },
  version: { type: 'integer' },
  spec: { type: 'json' },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  updatedAt: { type: 'timestamptz' },
  updatedBy: { type: 'text' },
  reviewedVersion: { type: 'integer', nullable: true },
  storedBytes,
});

export const ProjectVersionTable = defineTable<VersionRow>('project_versions', {
  projectId: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  name: { type: 'text' },
  spec: { type: 'json' },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
});

const LISTED: Readonly<Record<keyof ProjectVersionEntry, true>> = {
  version: true,
  name: true,
  createdBy: true,
  createdAt: true,
};

@injectable()
export class TypeOrmProjectRepository implements ProjectRepository {
  private readonly projects = () => this.unitOfWork.repository(ProjectTable);
  private readonly history = () => this.unitOfWork.repository(ProjectVersionTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  add(project: Project): Promise<void> {
    return this.unitOfWork.run(async () => {
      await this.projects().insert({ ...project, storedBytes: specBytes(project) });
      await this.addVersion(project);
    });
  }

  find(teamId: string, id: string): Promise<Project | null> {
    return this.projects().findOneBy({ id, teamId }) as Promise<Project | null>;
  }

  all(filter: ProjectFilter, page: Page): Promise<Project[]> {
    return this.projects().find(newest(matching(filter), page)) as Promise<Project[]>;
  }

  sizes(filter: ProjectFilter, page: Page): Promise<SizedItem[]> {
    return sizesOf(this.projects(), newest(matching(filter), page), ['spec']);
  }

  names(teamId: string, limit: number, ids?: readonly string[] | null): Promise<Pick<Project, 'id' | 'name'>[]> {
    const some = newest(matching({ teamId, ids }), { limit, after: null });
    return this.projects().find({ select: { id: true, name: true }, ...some });
  }

  replace({ id, version }: Project, next: Project): Promise<boolean> {
    const { reviewedVersion: _, ...change } = next;
    return this.unitOfWork.run(async () => {
      if (
        !(await changesOne(this.projects().update({ id, version }, { ...change, storedBytes: plus(specBytes(next)) })))
      )
        return false;
      await this.addVersion(next);
      return true;
    });
  }

  noteReview({ id, version, reviewedVersion }: Parameters<ProjectRepository['noteReview']>[0]): Promise<boolean> {
    return changesOne(this.projects().update({ id, version }, { reviewedVersion }));
  }

  remove({ id, version }: Parameters<ProjectRepository['remove']>[0]): Promise<boolean> {
    const removed = changesOne(this.projects().delete({ id, version }));
    return notifying(this.unitOfWork, removed); // the row of its runtime is deleted with it
  }

  versions(projectId: string, page: VersionPage): Promise<ProjectVersionEntry[]> {
    return this.history().find({ select: LISTED, ...newest<VersionRow>({ projectId }, page, 'version') });
  }

  async version(projectId: string, version: number): Promise<ProjectVersion | null> {
    const row = await this.history().findOneBy({ projectId, version });
    if (!row) return null;
    const { projectId: _, ...found } = row;
    return found as ProjectVersion;
  }

  private async addVersion(project: Project): Promise<void> {
    await this.history().insert({ ...Project.versionOf(project), projectId: project.id });
  }
}

/** The condition on `ids` stands at `teamId`, because a page has a condition on `id`. */
const matching = ({ teamId, q, ids = null }: ProjectFilter): FindOptionsWhere<ProjectRow> => ({
  teamId: ids ? Raw((team) => `${team} = :teamId AND id = ANY (:ids)`, { teamId, ids }) : teamId,
  ...(q !== undefined && { name: Raw((name) => `${name} ~ :name`, { name: containing(q) }) }),
});
