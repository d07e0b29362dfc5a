import { port } from '../../shared/port.js';

/** The single files that models are served from. */
export interface ModelFiles {
  /**
   * The resolved absolute path of an `.onnx` file, given relative to a models folder or absolute within one, symbolic
   * links followed first. Throws ModelFileInvalid, with what is wrong in words, for everything else: what is not there,
   * lies outside the models folders, is no regular file, has another ending, is empty, too large or mostly holes; and
   * for every path with a `..` segment, wherever that leads. Of an absolute path outside the folders the words don't
   * tell whether there is such a file. No file is opened, so none can make it wait.
   */
  locate(path: string): Promise<string>;
}
export const ModelFiles = port<ModelFiles>('deployments.ModelFiles');
