import { useEffect, useState } from 'preact/hooks';
import { can, forUser, isOperator } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { FormError, SelectField, SubmitButton, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { connectModel, draftModel, modelName, registerModel } from '../../shared/models.js';
import { useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Loading, QueryError, State } from '../../shared/states.js';

type Project = Schemas['Project'];
const FILE = 'file:';

/** Shows the state of the runtime, with the buttons that change it. The place `at=runtime` of the address focuses it. */
export function RuntimePanel({ project, reload }: { project: Project; reload: () => Promise<void> }) {
  const { id, runtime, models } = project;
  const params = { path: { project_id: id } };
  const connected = models.find((model) => model.id === runtime.model_id);
  const mayEdit = can('edit_workspace');
  const change = useAction(async (act: () => Promise<unknown>) => {
    try {
      await act();
    } finally {
      void reload();
    }
  });
  const start = () => answer(api.POST('/v1/projects/{project_id}/runtime/start', { params }));
  const stop = () => answer(api.POST('/v1/projects/{project_id}/runtime/stop', { params }));
  const disconnect = async () => {
    const text = 'Nothing answers chats of this project until a model is connected again. The model itself stays.';
    if (!(await confirmAct({ title: 'Disconnect the model?', text, act: 'Disconnect' }))) return;
    await change.run(() => answer(api.DELETE('/v1/projects/{project_id}/runtime', { params })));
  };
  const isWanted = query.value.get('at') === 'runtime';
  useEffect(() => {
    if (!isWanted) return;
    // In the next frame, because a new page first gets the focus as a whole.
    const frame = requestAnimationFrame(() => {
      document.getElementById('runtime')?.focus();
      setQuery({ at: null });
    });
    return () => cancelAnimationFrame(frame);
  }, [isWanted]);
  const idle = runtime.state === 'stopped' || runtime.state === 'unavailable';
  return (
    <Panel title="Runtime" actions={<State of={runtime.state} />}>
      <div id="runtime" class="stack" tabIndex={-1}>
        <FormError error={change.error} />
        {runtime.reason && <p class="note bad">{forUser(runtime.reason)}</p>}
        {connected ? (
          <p>
            <a href={link(`/projects/${id}/models/${connected.id}`)}>{modelName(connected)}</a>
            {runtime.task && <span class="hint"> {runtime.task}</span>}
          </p>
        ) : (
          <p class="hint">
            {mayEdit ? 'Connect a registered model, so that the project answers.' : 'No model is connected.'}
          </p>
        )}
        {runtime.state === 'loading' && (
          <p class="hint" role="status">
            The model is loading. This page shows when it is ready.
          </p>
        )}
        {mayEdit && connected && (
          <div class="actions start">
            {idle && (
              <button type="button" class="button" disabled={change.busy} onClick={() => void change.run(start)}>
                {runtime.state === 'stopped' ? 'Start' : 'Start again'}
              </button>
            )}
            {runtime.state !== 'stopped' && (
              <button type="button" class="button" disabled={change.busy} onClick={() => void change.run(stop)}>
                {change.busy ? 'One moment …' : 'Stop'}
              </button>
            )}
            <button type="button" class="button" disabled={change.busy} onClick={() => void disconnect()}>
              Disconnect
            </button>
          </div>
        )}
        {mayEdit && <Connection project={project} busy={change.busy} connect={change.run} />}
      </div>
    </Panel>
  );
}

/** Lets the user choose a registered model, or a chat model of this service, which is registered first. */
function Connection(props: {
  project: Project;
  busy: boolean;
  connect: (act: () => Promise<unknown>) => Promise<void>;
}) {
  const { project, busy, connect } = props;
  const [chosen, choose] = useState('');
  const files = useQuery(isOperator() ? 'model-files' : null, () => answer(api.GET('/v1/model-files')));
  const registered = project.models.filter(({ id }) => id !== project.runtime.model_id);
  const inUse = project.models.map(({ spec }) => spec.path);
  const folders = (files.data?.model_files ?? []).filter(
    ({ kind, path }) => kind === 'chat_model' && !inUse.includes(path),
  );
  if (registered.length === 0 && folders.length === 0) {
    if (files.loading && !files.data) return <Loading what="the models" />;
    if (files.error) return <QueryError query={files} />;
    return project.runtime.model_id ? null : (
      <a class="button" href={link(`/projects/${project.id}/models`, { new: '1' })}>
        Draft a model
      </a>
    );
  }
  const value = chosen || registered[0]?.id || FILE + folders[0]?.path;
  const act = async () => {
    const spec = { runtime: 'onnx', path: value.slice(FILE.length) };
    const isFile = value.startsWith(FILE);
    const model = isFile
      ? await registerModel(await draftModel(project.id, spec))
      : { project_id: project.id, id: value };
    await connectModel(model);
    choose('');
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void connect(act);
      }}
    >
      <SelectField
        label={project.runtime.model_id ? 'Connect another model' : 'Model'}
        value={value}
        options={[
          ...registered.map((model) => [model.id, modelName(model)] as const),
          ...folders.map(({ path }) => [FILE + path, `${path} (registers it)`] as const),
        ]}
        onInput={(event) => choose(event.currentTarget.value)}
      />
      <SubmitButton busy={busy} plain={project.runtime.model_id !== null}>
        Connect and start
      </SubmitButton>
    </form>
  );
}
