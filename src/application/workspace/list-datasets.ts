import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import { DatasetRepository } from './ports.js';
import { ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly page: { readonly limit: number; readonly after: string | null };
}

@injectable()
export class ListDatasets {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, page }: Input): Promise<Dataset[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.found.project(caller, projectId);
    return this.datasets.all(project.id, page);
  }
}
