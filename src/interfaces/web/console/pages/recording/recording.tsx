import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { writeJson } from '../../shared/json-source.js';
import { ProjectFrame, useProject } from '../../shared/project-frame.js';
import type { Query } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { specOf } from '../../shared/spec/fields.js';
import { useSpecDraft } from '../../shared/spec/spec-draft.js';
import { SpecEditor } from '../../shared/spec/spec-editor.js';
import { Loaded } from '../../shared/states.js';
import { Meaning } from './meaning.js';
import { RecordingForm } from './recording-form.js';

type Project = Schemas['Project'];

const EVERY_MS = 10_000;

/** Edits what a project keeps of its calls. It is a part of the specification, and shares its draft. */
export function RecordingPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const id = parameters.project_id ?? '';
  const project = useProject(id, { everyMs: EVERY_MS });
  return (
    <ProjectFrame id={id} project={project} title="Recording">
      <Loaded query={project} what="the project">
        {(data) => <Settings key={id} project={data} query={project} />}
      </Loaded>
    </ProjectFrame>
  );
}

function Settings({ project, query }: { project: Project; query: Query<Project> }) {
  const { id } = project;
  const readOnly = !can('edit_workspace');
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
  const spec = specOf(draft.source);
  const changesMore = draft.changed && withoutRecording(spec) !== withoutRecording(project.spec);
  return (
    <div class="main-and-side">
      <div class="stack">
        {changesMore && (
          <p class="note warn">
            The <a href={link(`/projects/${id}`)}>specification</a> has other changes that are not saved. They are saved
            together with these.
          </p>
        )}
        <SpecEditor
          title="What is kept of calls"
          draft={draft}
          readOnly={readOnly}
          form={(fields) => <RecordingForm fields={fields} />}
        />
      </div>
      <Meaning spec={spec ?? project.spec} />
    </div>
  );
}

function withoutRecording(spec: Readonly<Record<string, unknown>> | null): string {
  const { record: _, ...others } = spec ?? {};
  return writeJson(others);
}
