import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import type { Datasets } from './ports/datasets.js';
import type { ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly page: { readonly limit: number; readonly after: string | null };
}

export class ListDatasets {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: Datasets,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, page }: Input): Promise<Dataset[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.found.project(caller, projectId);
    return this.datasets.all(project.id, page);
  }
}
