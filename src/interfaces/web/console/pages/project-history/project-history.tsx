import { answer, api } from '../../shared/api.js';
import { ProjectFrame, useProject } from '../../shared/project-frame.js';
import { usePaged } from '../../shared/query.js';
import { setQuery } from '../../shared/router.js';
import { asSpec } from '../../shared/spec/fields.js';
import type { Saved } from '../../shared/spec/spec-draft.js';
import { type VersionEntry, VersionsView, versionPage, versionsOf } from '../../shared/spec/versions-view.js';
import { toast } from '../../shared/toasts.js';

export function ProjectHistory({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const id = parameters.project_id ?? '';
  const project = useProject(id);
  const versions = usePaged<VersionEntry>(`project ${id} versions`, async (cursor) => {
    const params = { path: { project_id: id }, query: versionPage(cursor) };
    return versionsOf(await answer(api.GET('/v1/projects/{project_id}/versions', { params })));
  });
  const load = (version: number) => {
    const params = { path: { project_id: id, version } };
    return answer(api.GET('/v1/projects/{project_id}/versions/{version}', { params }));
  };
  const restore = async ({ version: restored, name = '', spec }: Saved) => {
    const version = versions.data?.[0]?.version ?? 1;
    const body = { version, name, spec: asSpec(spec) };
    try {
      const saved = await answer(api.PUT('/v1/projects/{project_id}', { params: { path: { project_id: id } }, body }));
      project.set(saved);
      toast(`Version ${restored} is saved again, as version ${saved.version}.`);
      setQuery({ version: null, against: null });
    } finally {
      void versions.reload();
    }
  };
  return (
    <ProjectFrame id={id} project={project}>
      <VersionsView thing={`project ${id}`} versions={versions} load={load} restore={restore} />
    </ProjectFrame>
  );
}
