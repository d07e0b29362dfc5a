import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { FormError, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { connectModel, modelName, newUuid, registerModel } from '../../shared/models.js';
import { ProjectFrame, useProject } from '../../shared/project-frame.js';
import { type Query, usePaged, useQuery } from '../../shared/query.js';
import { link, navigate } from '../../shared/router.js';
import { useSpecDraft } from '../../shared/spec/spec-draft.js';
import { SpecEditor } from '../../shared/spec/spec-editor.js';
import { type VersionEntry, VersionsView, versionPage, versionsOf } from '../../shared/spec/versions-view.js';
import { Loaded, State, Time } from '../../shared/states.js';
import { toast, toastError } from '../../shared/toasts.js';
import { ModelForm } from '../models/model-form.js';
import { UsesPanel } from './uses-panel.js';

type Model = Schemas['Model'];
type Project = Schemas['Project'];

const EVERY_MS = 10_000;
const MODEL = '/v1/projects/{project_id}/models/{model_id}';

export function ModelPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const { project_id = '', model_id = '' } = parameters;
  const project = useProject(project_id, { everyMs: EVERY_MS });
  const model = useQuery(
    `model ${model_id}`,
    () => answer(api.GET(MODEL, { params: { path: { project_id, model_id } } })),
    { everyMs: (data) => (data?.state === 'draft' ? EVERY_MS : null) },
  );
  const remove = async () => {
    const text = 'All its versions go with it. This cannot be undone.';
    if (!(await confirmAct({ title: 'Delete this draft?', text, act: 'Delete the draft' }))) return;
    await answer(api.DELETE(MODEL, { params: { path: { project_id, model_id } } }));
    navigate(link(`/projects/${project_id}/models`));
  };
  return (
    <ProjectFrame id={project_id} project={project} title={model.data ? modelName(model.data) : 'Model'}>
      <Loaded
        query={model}
        what="the model"
        remedies={
          can('edit_workspace') && (
            <button type="button" class="button small danger" onClick={() => void remove().catch(toastError)}>
              Delete the draft
            </button>
          )
        }
      >
        {(data) => <Opened key={model_id} model={data} query={model} project={project} remove={remove} />}
      </Loaded>
    </ProjectFrame>
  );
}

interface Parts {
  model: Model;
  query: Query<Model>;
  project: Query<Project>;
  /** Asks, then deletes the draft. */
  remove: () => Promise<void>;
}

function Opened({ model, query, project, remove }: Parts) {
  const { id, project_id } = model;
  const path = { project_id, model_id: id };
  const versions = usePaged<VersionEntry>(`model ${id} versions`, async (cursor) => {
    const params = { path, query: versionPage(cursor) };
    return versionsOf(await answer(api.GET(`${MODEL}/versions`, { params })));
  });
  const draft = useSpecDraft({
    key: `model ${id}`,
    now: model,
    save: async (version, { spec }) => {
      const saved = await answer(api.PUT(MODEL, { params: { path }, body: { version, spec } }));
      query.set(saved);
      void versions.reload();
      return saved;
    },
    reload: query.reload,
  });
  const readOnly = model.state === 'registered' || !can('edit_workspace');
  return (
    <>
      <div class="main-and-side">
        <SpecEditor title="Spec" draft={draft} readOnly={readOnly} form={(fields) => <ModelForm fields={fields} />} />
        <div class="stack">
          <StatePanel {...{ model, query, project, remove }} changed={draft.changed} />
          <UsesPanel model={model} project={project.data} />
        </div>
      </div>
      {model.version > 1 && (
        <Panel title="Versions">
          <VersionsView
            thing={`model ${id}`}
            versions={versions}
            load={(version) =>
              answer(api.GET(`${MODEL}/versions/{version}`, { params: { path: { ...path, version } } }))
            }
          />
        </Panel>
      )}
    </>
  );
}

function StatePanel({ model, query, project, remove, changed }: Parts & { changed: boolean }) {
  const { id, project_id, state, version, forked_from, created_at, registered_at } = model;
  const place = `/projects/${project_id}/models`;
  const params = { path: { project_id, model_id: id } };
  const isConnected = project.data?.runtime.model_id === id;
  const change = useAction(async (act: () => Promise<unknown>) => {
    try {
      await act();
    } finally {
      void query.reload();
      void project.reload();
    }
  });
  const register = async () => {
    const text =
      'A registered model cannot change any more and goes only with its project. A fork makes its successor.';
    if (!(await confirmAct({ title: `Register version ${version}?`, text, act: 'Register' }))) return;
    await change.run(() => registerModel(model));
  };
  const fork = () =>
    change.run(async () => {
      const forked = await answer(api.POST(`${MODEL}/fork`, { params, body: { request_id: newUuid() } }));
      toast('This is the fork: a draft with the same spec.');
      navigate(link(`${place}/${forked.id}`));
    });
  return (
    <Panel title="Model" actions={<State of={state} />}>
      <div class="stack">
        <FormError error={change.error} />
        <dl class="facts">
          <dt>Version</dt>
          <dd>{version}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={created_at} />
          </dd>
          {registered_at && (
            <>
              <dt>Registered</dt>
              <dd>
                <Time at={registered_at} />
              </dd>
            </>
          )}
          {forked_from && (
            <>
              <dt>Forked from</dt>
              <dd>
                <a href={link(`${place}/${forked_from.model_id}`)}>
                  …{forked_from.model_id.slice(-6)}, version {forked_from.version}
                </a>
              </dd>
            </>
          )}
        </dl>
        {can('edit_workspace') && (
          <div class="actions start">
            {state === 'draft' && (
              <button type="button" class="button" disabled={change.busy || changed} onClick={() => void register()}>
                <Icon name="lock" /> Register
              </button>
            )}
            {state === 'registered' && !isConnected && (
              <button
                type="button"
                class="button primary"
                disabled={change.busy}
                onClick={() => void change.run(() => connectModel(model))}
              >
                {change.busy ? 'One moment …' : 'Connect and start'}
              </button>
            )}
            <button type="button" class="button" disabled={change.busy} onClick={() => void fork()}>
              <Icon name="fork" /> Fork
            </button>
            {state === 'draft' && (
              <button
                type="button"
                class="button danger"
                disabled={change.busy}
                onClick={() => void change.run(remove)}
              >
                Delete
              </button>
            )}
          </div>
        )}
        {changed && state === 'draft' && <p class="hint">Save or discard your changes before you register.</p>}
      </div>
    </Panel>
  );
}
