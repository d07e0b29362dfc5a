import type { ModelFileResolver, ModelFileStore } from '../application/deployments/ports.js';
import type { InstanceRegistry } from '../application/jobs/ports.js';
import { keptSecret } from '../infrastructure/files/data-folder.js';
import { LocalModelFileStore, removeUnfinished } from '../infrastructure/files/local-model-file-store.js';
import { LocalModelFileResolver } from '../infrastructure/files/local-model-files.js';
import { ModelCache } from '../infrastructure/files/model-cache.js';
import { SystemClock } from '../infrastructure/system/adapters.js';
import type { Config } from './config/config.js';

/** The adapters behind the two ports of model files. */
export interface ModelStorage {
  readonly files: ModelFileStore;
  readonly resolver: ModelFileResolver;
  /** Removes what killed instances have left behind. */
  readonly removeUnfinished: (now: Date, stopping: AbortSignal) => Promise<void>;
}

interface StorageOptions {
  /** Limits lists. */
  readonly maxEntries?: number;
  readonly instances?: () => Pick<InstanceRegistry, 'own' | 'missing'>;
}

/** A command is no instance. What it leaves behind when it is killed, the next start of the service removes. */
const noInstance = { own: async () => 0, missing: async () => [] };

export const localModels = (config: Config, maxEntries?: number): ModelStorage => ({
  files: new LocalModelFileStore(config.modelFolders, config.uploadFolder, maxEntries),
  resolver: new LocalModelFileResolver(config.modelFolders),
  removeUnfinished: async (now) => {
    for (const folder of [config.uploadFolder, config.modelCache.folder]) await removeUnfinished(folder, now);
  },
});

/** Returns the storage that the settings choose. */
export async function modelStorage(
  config: Config,
  { maxEntries, instances = () => noInstance }: StorageOptions = {},
): Promise<ModelStorage> {
  const local = localModels(config, maxEntries);
  if (!config.modelStore) return local;
  // The client of S3 is large, so it is loaded only if it is used.
  const [{ S3Bucket }, { S3ModelFileStore }, { S3ModelFileResolver }, { S3Uploads }] = await Promise.all([
    import('../infrastructure/s3/s3-bucket.js'),
    import('../infrastructure/s3/s3-model-file-store.js'),
    import('../infrastructure/s3/s3-model-file-resolver.js'),
    import('../infrastructure/s3/s3-uploads.js'),
  ]);
  const bucket = new S3Bucket(config.modelStore);
  const secret = () => config.secret ?? keptSecret(config.dataDir);
  const uploads = new S3Uploads(bucket, { secret, instances });
  return {
    files: new S3ModelFileStore(bucket, uploads, local.files, maxEntries),
    resolver: new S3ModelFileResolver(bucket, local.resolver, new ModelCache(config.modelCache, new SystemClock())),
    async removeUnfinished(now, stopping) {
      await local.removeUnfinished(now, stopping);
      await uploads.removeUnfinished(stopping);
    },
  };
}
