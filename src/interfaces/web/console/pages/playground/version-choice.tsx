import { useEffect, useRef } from 'preact/hooks';
import { answer, api } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatAgo } from '../../shared/format.js';
import { usePaged } from '../../shared/query.js';
import { type VersionEntry, versionPage, versionsOf } from '../../shared/spec/versions-view.js';
import { More } from '../../shared/table.js';
import type { Side } from './columns.js';

/** Lets the user choose the version of the project whose system prompt and sampling the column takes. */
export function VersionChoice({ side: { chat, project, version, chooseVersion } }: { side: Side }) {
  const { projectId } = chat;
  const newest = project.data?.version;
  const versions = usePaged<VersionEntry>(`project ${projectId} versions`, async (cursor) => {
    const params = { path: { project_id: projectId }, query: versionPage(cursor) };
    return versionsOf(await answer(api.GET('/v1/projects/{project_id}/versions', { params })));
  });
  const listed = useRef(newest);
  useEffect(() => {
    if (listed.current !== undefined && listed.current !== newest) void versions.reload();
    listed.current = newest;
  }, [newest]);
  const older = (versions.data ?? []).filter((entry) => entry.version !== newest);
  const isListed = version === null || older.some((entry) => entry.version === version);
  const options: (readonly [string, string])[] = [
    ['', newest === undefined ? 'The newest' : `The newest, version ${newest}`],
    ...older.map(
      (entry) => [String(entry.version), `Version ${entry.version}, ${formatAgo(entry.created_at)}`] as const,
    ),
    ...(isListed ? [] : [[String(version), `Version ${version}`] as const]),
  ];
  return (
    <>
      <SelectField
        label="Version of the specification"
        options={options}
        value={version === null ? '' : String(version)}
        onInput={(event) => chooseVersion(Number(event.currentTarget.value) || null)}
        hint="The column takes its system prompt and its sampling. The connected model answers."
      />
      <More query={versions} />
    </>
  );
}
