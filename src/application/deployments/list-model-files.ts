import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { ModelFile } from '../../domain/deployments/model-file.js';
import { ModelFileStore } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly limit: number;
  /** The last path of the page before. */
  readonly after: string | null;
}

interface Page {
  readonly files: readonly ModelFile[];
  /** There is more in the models folders than was looked at. */
  readonly truncated: boolean;
}

/** What can be deployed or chatted with, and all that was uploaded, by path. */
@injectable()
export class ListModelFiles {
  constructor(private readonly store: ModelFileStore) {}

  async execute({ by, limit, after }: Input): Promise<Page> {
    authorize(by, permissions.readMonitoring);
    const { files, truncated } = await this.store.list();
    const shown = ModelFile.all(files).filter(({ kind, writable }) => kind !== 'file' || writable);
    return { files: shown.filter(({ path }) => after === null || path > after).slice(0, limit), truncated };
  }
}
