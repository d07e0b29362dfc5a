import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Projects, ProjectVersion, VersionEntry } from './ports/projects.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
}

/** What a project was, version by version. */
export class ProjectHistory {
  constructor(
    private readonly found: ProjectModels,
    private readonly projects: Projects,
  ) {}

  /** Newest first, those before version `before`. Throws NotFound. */
  async list(input: Input & { limit: number; before: number | null }): Promise<VersionEntry[]> {
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
