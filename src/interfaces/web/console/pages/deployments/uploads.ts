/** Paths and routes of uploads. */

/** Returns the path of an upload below the models folders: the folder, if any, and the path of the file. */
export function uploadPath(folder: string, own: string): string {
  const within = folder.trim().replace(/^\/+|\/+$/g, '');
  return within ? `${within}/${own}` : own;
}

/** Returns the route of a model file. Does not encode its slashes. */
export const modelFileRoute = (path: string): string =>
  `/v1/model-files/${path.split('/').map(encodeURIComponent).join('/')}`;
