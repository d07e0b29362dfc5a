import { injectable } from 'inversify';
import { DeleteModelFile } from '../../../application/deployments/delete-model-file.js';
import { ListModelFiles } from '../../../application/deployments/list-model-files.js';
import { UploadModelFile } from '../../../application/deployments/upload-model-file.js';
import type { ModelFile } from '../../../domain/deployments/model-file.js';
import { type Controller, Reply, route } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import * as contracts from './model-files.contract.js';

@injectable()
export class ModelFilesController implements Controller {
  readonly routes = [
    route(contracts.listModelFiles, async ({ caller, query: { limit, cursor } }) => {
      const input = { by: caller, limit: limit + 1, after: cursor ?? null };
      const { files, truncated } = await this.listModelFiles.execute(input);
      const page = files.slice(0, limit);
      return {
        model_files: page.map(fileAnswer),
        count: page.length,
        next_cursor: files.length > limit ? (page.at(-1)?.path ?? null) : null,
        truncated,
      };
    }),
    route(contracts.uploadModelFile, async ({ caller, params, body }) => {
      const file = await this.uploadModelFile.execute({ by: caller, path: params.path, bytes: body });
      return new Reply(file.replaced ? 200 : 201, { ...fileAnswer(file), sha256: file.sha256 });
    }),
    route(contracts.deleteModelFile, async ({ caller, params }) => {
      await this.deleteModelFile.execute({ by: caller, path: params.path });
      return deleted(params.path);
    }),
  ];

  constructor(
    private readonly listModelFiles: ListModelFiles,
    private readonly uploadModelFile: UploadModelFile,
    private readonly deleteModelFile: DeleteModelFile,
  ) {}
}

const fileAnswer = ({ path, size, kind, modifiedAt, writable }: ModelFile) => ({
  path,
  size,
  kind,
  modified_at: seconds(modifiedAt),
  writable,
});
