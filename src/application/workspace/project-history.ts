import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { ProjectRepository, type ProjectVersion, type ProjectVersionEntry } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
}

/** What a project was, version by version. */
@injectable()
export class ProjectHistory {
  constructor(
    private readonly found: ProjectModels,
    private readonly projects: ProjectRepository,
  ) {}

  /** Newest first, those before version `before`. Throws NotFound. */
  async list(input: Input & { limit: number; before: number | null }): Promise<ProjectVersionEntry[]> {
    const { id } = await this.project(input);
    return this.projects.versions(id, input);
  }

  /** Throws NotFound. */
  async read(input: Input & { version: number }): Promise<ProjectVersion> {
    const { id } = await this.project(input);
    const version = await this.projects.version(id, input.version);
    if (!version) throw new NotFound('version');
    return version;
  }

  private project({ by, projectId }: Input) {
    return this.found.project(authorize(by, permissions.readWorkspace), projectId);
  }
}
