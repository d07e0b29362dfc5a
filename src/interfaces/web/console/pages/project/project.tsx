import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Icon } from '../../shared/icon.js';
import { ProjectFrame, useProject } from '../../shared/project-frame.js';
import type { Query } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { useSpecDraft } from '../../shared/spec/spec-draft.js';
import { SpecEditor } from '../../shared/spec/spec-editor.js';
import { Loaded } from '../../shared/states.js';
import { ProjectForm } from './project-form.js';
import { ReviewPanel } from './review-panel.js';
import { RuntimePanel } from './runtime-panel.js';
import { TargetsPanel } from './targets-panel.js';

type Project = Schemas['Project'];

const EVERY_MS = 10_000;
const WHILE_LOADING_MS = 2_000;

export function ProjectPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const id = parameters.project_id ?? '';
  const project = useProject(id, {
    everyMs: (data) => (data?.runtime.state === 'loading' ? WHILE_LOADING_MS : EVERY_MS),
  });
  const chat = can('chat') && project.data?.runtime.state === 'ready' && (
    <a class="button" href={link('/playground', { project: id })}>
      <Icon name="playground" /> Open the playground
    </a>
  );
  return (
    <ProjectFrame id={id} project={project} actions={chat}>
      <Loaded query={project} what="the project">
        {(data) => (
          <div class="main-and-side">
            <Specification key={id} project={data} query={project} />
            <div class="stack">
              <RuntimePanel project={data} reload={project.reload} />
              <TargetsPanel project={data} reload={project.reload} />
              <ReviewPanel project={data} reload={project.reload} />
            </div>
          </div>
        )}
      </Loaded>
    </ProjectFrame>
  );
}

function Specification({ project, query }: { project: Project; query: Query<Project> }) {
  const { id } = project;
  const draft = useSpecDraft({
    key: `project ${id}`,
    now: project,
    save: async (version, { name, spec }) => {
      const params = { path: { project_id: id } };
      const saved = await answer(api.PUT('/v1/projects/{project_id}', { params, body: { version, name, spec } }));
      query.set(saved);
      return saved;
    },
    reload: query.reload,
  });
  return (
    <SpecEditor
      title="Specification"
      draft={draft}
      readOnly={!can('edit_workspace')}
      form={(fields) => <ProjectForm projectId={id} draft={draft} fields={fields} />}
    />
  );
}
