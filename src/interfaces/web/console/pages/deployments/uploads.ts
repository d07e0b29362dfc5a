/** Names uploads as the API takes them. */

/** Returns the path of an upload below the models folders: a folder, if one is given, then the file's own path. */
export function uploadPath(folder: string, own: string): string {
  const within = folder.trim().replace(/^\/+|\/+$/g, '');
  return within ? `${within}/${own}` : own;
}

/** Returns the route of a model file. Its slashes are sent as they are. */
export const modelFileRoute = (path: string): string =>
  `/v1/model-files/${path.split('/').map(encodeURIComponent).join('/')}`;
