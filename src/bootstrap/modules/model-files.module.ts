import { ContainerModule } from 'inversify';
import { DeleteModelFile } from '../../application/deployments/delete-model-file.js';
import { ListModelFiles } from '../../application/deployments/list-model-files.js';
import { ModelStore } from '../../application/deployments/ports/model-store.js';
import { UploadModelFile } from '../../application/deployments/upload-model-file.js';
import { LocalModelStore } from '../../infrastructure/files/local-model-store.js';
import { ModelFilesController } from '../../interfaces/http/deployments/model-files.controller.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';
import { UploadLimits } from '../tokens.js';

const UPLOADS_AT_ONCE = 4;

export const modelFilesModule = ({ modelFolders, uploadFolder, modelUploadBytes }: Config) =>
  new ContainerModule((module) => {
    provideValue(module, ModelStore, new LocalModelStore(modelFolders, uploadFolder));
    provideValue(module, UploadLimits, { fileBytes: modelUploadBytes, atOnce: UPLOADS_AT_ONCE });
    provide(module, ListModelFiles, ListModelFiles, [ModelStore]);
    provide(module, UploadModelFile, UploadModelFile, [ModelStore, UploadLimits]);
    provide(module, DeleteModelFile, DeleteModelFile, [ModelStore]);
    provide(module, ModelFilesController, ModelFilesController, [ListModelFiles, UploadModelFile, DeleteModelFile]);
  });
