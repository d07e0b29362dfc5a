import { answer, api } from '../../shared/api.js';
import { usePaged } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { Loaded, Time } from '../../shared/states.js';
import { More, Table } from '../../shared/table.js';
import { at, type Dataset } from './calls.js';

export function Versions({ project, dataset }: { project: string; dataset: Dataset }) {
  const versions = useVersions(project, dataset);
  const place = `/projects/${project}/datasets/${dataset.id}`;
  return (
    <>
      <Loaded query={versions} what="the versions">
        {(found) => (
          <Table
            label="Versions"
            rows={found}
            rowKey={({ id }) => id}
            columns={[
              {
                title: 'Version',
                cell: ({ version }) => <a href={link(place, { version })}>Version {version}</a>,
              },
              { title: 'Saved', cell: ({ created_at }) => <Time at={created_at} /> },
              { title: 'Records', cell: ({ record_count }) => record_count, numeric: true },
              { title: 'Name', cell: ({ name }) => name, minor: true },
              {
                title: 'Content',
                cell: ({ content_sha256 }) => content_sha256 && <code>{content_sha256.slice(0, 12)}</code>,
                minor: true,
              },
              {
                title: 'Compare',
                cell: ({ version }) =>
                  version !== dataset.version && (
                    <a href={link(place, { view: 'compare', with: version })}>with version {dataset.version}</a>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <More query={versions} />
    </>
  );
}

export const useVersions = (project: string, { id, version }: Dataset) =>
  usePaged(`versions of ${id} up to ${version}`, async (cursor) => {
    const query = { limit: 100, cursor: cursor ? Number(cursor) : undefined };
    const page = await answer(
      api.GET('/v1/projects/{project_id}/datasets/{dataset_id}/versions', { params: { ...at(project, id), query } }),
    );
    return { items: page.versions.map((one) => ({ ...one, id: String(one.version) })), next: page.next_cursor };
  });
