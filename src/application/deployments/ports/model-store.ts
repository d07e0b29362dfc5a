import type { StoredFile } from '../../../domain/deployments/model-file.js';
import { port } from '../../shared/port.js';

export interface StoredFiles {
  /** By their paths. */
  readonly files: readonly StoredFile[];
  /** There is more than was looked at. */
  readonly truncated: boolean;
}

export interface WrittenFile extends StoredFile {
  /** There was a file of this path before. */
  readonly replaced: boolean;
  /** Of the content, in hex. */
  readonly sha256: string;
}

/** What is in the models folders, of which one can be written. Paths obey `ModelFile.path`. */
export interface ModelStore {
  /**
   * The regular files of all models folders; with `at`, those in the folder of this path, or the file itself. Of files
   * with one path it shows the one that a model of this path is. Hidden ones are left out, and all that links lead to
   * outside of the models folders. Looks at a bounded number of entries.
   */
  list(at?: string): Promise<StoredFiles>;
  /**
   * Keeps the bytes, piece by piece as they come, in place of what was there: until all are there nobody sees any, and if
   * they break off nobody ever does. Of writes to one path at once, one wins as a whole. Throws what `bytes` throws,
   * InvalidRequest where a folder has this path, a file that of one of its folders, or a link leads elsewhere, and
   * StorageUnavailable when the disk takes no more.
   */
  write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Removes, all at once, a file, or a folder with all that is in it, and the folders above that are empty then. False
   * when there is none of this path in the folder that can be written.
   */
  remove(path: string): Promise<boolean>;
}
export const ModelStore = port<ModelStore>('deployments.ModelStore');
