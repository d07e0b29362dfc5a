import { injectable } from 'inversify';
import { ModelFileService } from '../../../application/deployments/model-file.service.js';
import type { ModelFile } from '../../../domain/deployments/model-file.js';
import { answerFrom, deleted, listed } from '../answers.js';
import { type Controller, Reply, route } from '../contract.js';
import * as contracts from './model-files.contract.js';

@injectable()
export class ModelFilesController implements Controller {
  readonly routes = [
    route(contracts.listModelFiles, async ({ caller, query: { limit, cursor } }) => {
      const input = { limit: limit + 1, after: cursor ?? null };
      const { files, truncated } = await this.files.list(caller, input);
      const page = files.slice(0, limit);
      return {
        ...listed('model_files', page.map(fileAnswer)),
        next_cursor: files.length > limit ? (page.at(-1)?.path ?? null) : null,
        truncated,
      };
    }),
    route(contracts.uploadModelFile, async ({ caller, params, body }) => {
      const file = await this.files.upload(caller, { path: params.path, bytes: body });
      return new Reply(file.replaced ? 200 : 201, { ...fileAnswer(file), sha256: file.sha256 });
    }),
    route(contracts.deleteModelFile, ({ caller, params: { path } }) =>
      deleted(path, this.files.delete(caller, { path })),
    ),
  ];

  constructor(private readonly files: ModelFileService) {}
}

const fileAnswer = (file: ModelFile) => answerFrom(contracts.ModelFileAnswer, file, {});
