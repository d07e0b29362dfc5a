import { InvalidRequest } from '../shared/errors.js';
import { ModelFileInvalid } from './errors.js';

export interface StoredFile {
  /** The path below the models folder, with slashes. Deployments name this path. */
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: Date;
  /** True if callers can replace and remove the file. */
  readonly writable: boolean;
}

/**
 * `onnx`: a file that can be deployed. `chat_model`: a folder with a chat model.
 * `embedding_model`: a folder with an embedding model. `file`: any other file.
 */
export const modelFileKinds = ['onnx', 'chat_model', 'embedding_model', 'file'] as const;
type ModelFileKind = (typeof modelFileKinds)[number];

/** Describes an entry of the models folders: a file, or a folder that contains one model. */
export interface ModelFile extends StoredFile {
  readonly kind: ModelFileKind;
}

export const modelFileLimits = { pathBytes: 1_024, segmentBytes: 255, segments: 8 } as const;

export const ModelFile = {
  /** Returns the path if it is valid for a file that callers write or remove. Throws InvalidRequest otherwise. */
  path(text: string): string {
    const message = problemOf(text);
    if (message) throw invalidPath(message);
    return text;
  },

  isPath: (text: string): boolean => problemOf(text) === null,

  of: (file: StoredFile): ModelFile => ({ ...file, kind: file.path.endsWith('.onnx') ? 'onnx' : 'file' }),

  /** Lists the files and the folders that contain one model, sorted by path. */
  all(files: readonly StoredFile[]): ModelFile[] {
    return [...files.map(ModelFile.of), ...folderModels(files)].sort((a, b) => (a.path < b.path ? -1 : 1));
  },
};

export const invalidPath = (message: string) => new InvalidRequest([{ path: 'path', message }]);

const bytes = (text: string) => new TextEncoder().encode(text).length;

function problemOf(path: string): string | null {
  const { pathBytes, segmentBytes, segments: most } = modelFileLimits;
  const segments = path.split('/');
  if (bytes(path) > pathBytes) return `must have at most ${pathBytes} bytes`;
  if (segments.length > most) return `must have at most ${most} parts between slashes`;
  if (segments.includes('')) return 'must not begin or end with a slash or have two slashes in a row';
  if (segments.some((segment) => segment.startsWith('.'))) return 'must not have a part that begins with a dot';
  if (/[\p{Cc}\\]/u.test(path)) return 'must not have backslashes or control characters';
  if (segments.some((segment) => bytes(segment) > segmentBytes)) {
    return `must have at most ${segmentBytes} bytes in each part between slashes`;
  }
  return null;
}

/** The files and the folder by which a folder with a model is known. */
export const modelMarks = ['config.json', 'tokenizer.json', 'onnx'] as const;

/** Finds folders in the layout of Hugging Face's ONNX exports. The size of a folder is the sum of its files. */
function folderModels(files: readonly StoredFile[]): ModelFile[] {
  const within = new Map<string, StoredFile[]>();
  for (const file of files) {
    for (const folder of foldersOf(file.path)) {
      const parts = within.get(folder);
      if (parts) parts.push(file);
      else within.set(folder, [file]);
    }
  }
  return [...within].filter(isModel).map(([path, parts]) => ({
    path,
    size: parts.reduce((sum, { size }) => sum + size, 0),
    modifiedAt: new Date(parts.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt.getTime()), 0)),
    writable: parts.every(({ writable }) => writable),
    kind: isEmbeddingModel(path, parts) ? 'embedding_model' : 'chat_model',
  }));
}

function isModel([folder, parts]: [string, readonly StoredFile[]]): boolean {
  const [config, tokenizer, weights] = modelMarks;
  const has = (name: string) => parts.some(({ path }) => path === `${folder}/${name}`);
  return has(config) && has(tokenizer) && parts.some(({ path }) => path.startsWith(`${folder}/${weights}/`));
}

/** Tells whether a folder has the files of sentence-transformers. Any other model counts as a chat model. */
const isEmbeddingModel = (folder: string, parts: readonly StoredFile[]): boolean =>
  parts.some(({ path }) => [`${folder}/modules.json`, `${folder}/1_Pooling/config.json`].includes(path));

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Throws ModelFileInvalid for a path with `..`, because symbolic links make its target unpredictable. */
export function refuseClimbing(path: string): void {
  if (path.split(/[\\/]/).includes('..')) throw new ModelFileInvalid('its path must not have a `..` segment.');
}
