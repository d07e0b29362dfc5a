import type { ModelFileResolver, ModelFileStore } from '../application/deployments/ports.js';
import { LocalModelFileStore } from '../infrastructure/files/local-model-file-store.js';
import { LocalModelFileResolver } from '../infrastructure/files/local-model-files.js';
import { ModelCache } from '../infrastructure/files/model-cache.js';
import { SystemClock } from '../infrastructure/system/adapters.js';
import type { Config } from './config/config.js';

/** The adapters behind the two ports of model files. */
export interface ModelStorage {
  readonly files: ModelFileStore;
  readonly resolver: ModelFileResolver;
}

export const localModels = ({ modelFolders, uploadFolder }: Config, maxEntries?: number): ModelStorage => ({
  files: new LocalModelFileStore(modelFolders, uploadFolder, maxEntries),
  resolver: new LocalModelFileResolver(modelFolders),
});

/** Returns the storage that the settings choose. `maxEntries` limits lists. */
export async function modelStorage(config: Config, maxEntries?: number): Promise<ModelStorage> {
  const local = localModels(config, maxEntries);
  if (!config.modelStore) return local;
  // The client of S3 is large, so it is loaded only if it is used.
  const [{ S3Bucket }, { S3ModelFileStore }, { S3ModelFileResolver }] = await Promise.all([
    import('../infrastructure/s3/s3-bucket.js'),
    import('../infrastructure/s3/s3-model-file-store.js'),
    import('../infrastructure/s3/s3-model-file-resolver.js'),
  ]);
  const bucket = new S3Bucket(config.modelStore);
  return {
    files: new S3ModelFileStore(bucket, local.files, maxEntries),
    resolver: new S3ModelFileResolver(bucket, local.resolver, new ModelCache(config.modelCache, new SystemClock())),
  };
}
