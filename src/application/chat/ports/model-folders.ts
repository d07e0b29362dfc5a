import { port } from '../../shared/port.js';

/** The folders that models are served from. */
export interface ModelFolders {
  /**
   * The resolved absolute path of a folder, given relative to a models folder or absolute within one, symbolic links
   * followed first. Null when there is none, when it is not a folder, or when it lies outside the models folders.
   */
  locate(path: string): Promise<string | null>;
}
export const ModelFolders = port<ModelFolders>('chat.ModelFolders');
