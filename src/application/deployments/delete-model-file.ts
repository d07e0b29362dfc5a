import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { ModelFile, pathFinding } from '../../domain/deployments/model-file.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { ModelFileStore } from './ports.js';

/** Removes an uploaded file, or a chat model with all its files. */
@injectable()
export class DeleteModelFile {
  constructor(private readonly store: ModelFileStore) {}

  /** Throws InvalidRequest, NotFound. */
  async execute(input: { by: Caller | null; path: string }): Promise<void> {
    authorize(input.by, permissions.manageMonitoring);
    const path = ModelFile.path(input.path);
    const { files } = await this.store.list(path);
    if (files.length === 0) throw new NotFound('model file');
    const refused = (message: string) => new InvalidRequest([pathFinding(message)]);
    if (!files.every(({ writable }) => writable)) {
      throw refused('is in a models folder that the service does not write to: only uploaded files can be deleted');
    }
    if (!ModelFile.all(files).some((one) => one.path === path)) {
      throw refused('is a folder that is no chat model: delete its files one by one');
    }
    if (!(await this.store.remove(path))) throw new NotFound('model file');
  }
}
