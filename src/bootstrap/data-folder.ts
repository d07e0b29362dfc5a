import { makeFolder } from '../infrastructure/files/data-folder.js';
import type { Config } from './config/config.js';

/** Makes the data folder and what the service writes to in it. Throws where that cannot be. */
export function makeDataFolder({ dataDir, uploadFolder }: Pick<Config, 'dataDir' | 'uploadFolder'>): void {
  try {
    // Not for others to list; but PostgreSQL's unprivileged account must get through to its own folder.
    makeFolder(dataDir, 0o711);
    makeFolder(uploadFolder);
  } catch (error) {
    throw new Error(`the data folder ${dataDir} (SERVICE_DATA_DIR) cannot be used: ${(error as Error).message}`);
  }
}
