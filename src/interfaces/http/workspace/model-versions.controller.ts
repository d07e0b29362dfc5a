import { injectable } from 'inversify';
import { ListModelVersions } from '../../../application/workspace/list-model-versions.js';
import { ReadModel } from '../../../application/workspace/read-model.js';
import { ReadModelVersion } from '../../../application/workspace/read-model-version.js';
import type { ModelVersion } from '../../../domain/workspace/model.js';
import { type Controller, route } from '../contract.js';
import { pagedVersions, versionInPath, versionPageOf } from '../paging.js';
import { seconds } from '../schemas.js';
import * as contracts from './model-versions.contract.js';
import { ofModel } from './models.controller.js';

@injectable()
export class ModelVersionsController implements Controller {
  readonly routes = [
    route(
      contracts.listModelVersions,
      async ({ query, ...call }) => {
        const found = await this.listVersions.execute({ ...ofModel(call), page: versionPageOf(query) });
        const { versions, ...page } = pagedVersions(found, query);
        return { versions: versions.map(made), ...page };
      },
      (call) => this.readModel.execute(ofModel(call)),
    ),
    route(contracts.readModelVersion, async (call) => {
      const input = { ...ofModel(call), version: versionInPath(call.params.version) };
      const version = await this.readVersion.execute(input);
      return { id: version.modelId, project_id: call.params.project_id, spec: version.spec, ...made(version) };
    }),
  ];

  constructor(
    private readonly listVersions: ListModelVersions,
    private readonly readVersion: ReadModelVersion,
    private readonly readModel: ReadModel,
  ) {}
}

const made = ({ version, createdAt, createdBy }: Omit<ModelVersion, 'spec'>) => ({
  version,
  created_at: seconds(createdAt),
  created_by: createdBy,
});
