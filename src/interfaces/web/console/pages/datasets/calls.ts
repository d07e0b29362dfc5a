import { answer, api, type Schemas } from '../../shared/api.js';
import { type Format, formats, jsonBody } from './source.js';

export type Dataset = Schemas['Dataset'];

/** Returns the path parameters of a dataset. */
export const at = (project_id: string, dataset_id: string) => ({ path: { project_id, dataset_id } });

const PATH = '/v1/projects/{project_id}/datasets/{dataset_id}';

export const readDataset = (project: string, dataset: string) =>
  answer(api.GET(PATH, { params: at(project, dataset) }));

export const readVersion = (project: string, dataset: string, version: number) =>
  answer(
    api.GET(`${PATH}/versions/{version}`, {
      params: { path: { project_id: project, dataset_id: dataset, version } },
    }),
  );

/** The most bytes of a file that the page reads before it sends the file. The service refuses a longer file. */
const MOST_READ = 32 * 1024 * 1024;

/** Imports a file and sends it in its own media type. The service reads the file and reports all its errors. */
export async function importFile(
  project: string,
  { name, format, map }: { name: string; format: Format; map: string },
  file: Blob,
): Promise<Dataset> {
  const body = format === 'json' && file.size <= MOST_READ ? jsonBody(name, await file.text()) : file;
  return answer(
    api.POST('/v1/projects/{project_id}/datasets', {
      params: {
        path: { project_id: project },
        query: { ...(format !== 'json' && name !== '' && { name }), ...(map !== '' && { map }) },
      },
      headers: { 'Content-Type': formats[format].type },
      body: body as string,
      bodySerializer: (sent) => sent as string,
    }),
  );
}
