import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { FormError, SelectField, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { draftModel, registerModel } from '../../shared/models.js';
import { useQuery } from '../../shared/query.js';
import { link, navigate } from '../../shared/router.js';
import { State } from '../../shared/states.js';
import { type Progress, type Step, steps } from './steps.js';

const SHIPPED_MODEL = 'tiny-chat';

/** Leads from an empty service to a first answer in four steps. Marks the steps that are done. */
export function FirstSteps({ project, next, reload }: Progress & { reload: () => Promise<void> }) {
  const [starter, setStarter] = useState('capital-cities');
  const [model, setModel] = useState(SHIPPED_MODEL);
  const edits = can('edit_workspace');
  const starters = useQuery(edits ? 'starters' : null, () => answer(api.GET('/v1/project-starters')));
  const files = useQuery(edits && can('read_monitoring') ? 'model files' : null, () =>
    answer(api.GET('/v1/model-files')),
  );
  const chatModels = (files.data?.model_files ?? []).filter(({ kind }) => kind === 'chat_model');
  const id = project?.project_id ?? '';
  const params = { path: { project_id: id } };
  const acts: Record<Step, () => Promise<unknown>> = {
    project: () => answer(api.POST('/v1/projects', { body: { starter_id: starter } })),
    model: async () => {
      const { models } = await answer(api.GET('/v1/projects/{project_id}/models', { params }));
      // an earlier, failed attempt created this model
      const known = models.find(({ spec }) => spec.runtime === 'onnx' && spec.path === model);
      const draft = known ?? (await draftModel(id, { runtime: 'onnx', path: model }));
      const { id: model_id } = draft.state === 'draft' ? await registerModel(draft) : draft;
      return answer(api.PUT('/v1/projects/{project_id}/runtime', { params, body: { model_id } }));
    },
    runtime: () => answer(api.POST('/v1/projects/{project_id}/runtime/start', { params })),
    question: async () => navigate(link('/playground', { project: id })),
  };
  const act = useAction(async () => {
    await acts[next]();
    await reload();
  });
  const isLoading = project?.state === 'loading';
  const step = (name: Step, title: string, button: string, children: ComponentChildren) => (
    <StepRow
      key={name}
      {...{ title, button, edits: edits || name === 'question' }}
      at={steps.indexOf(name) - steps.indexOf(next)}
      busy={act.busy || (name === 'runtime' && isLoading)}
      onAct={() => void act.run()}
    >
      {children}
      {name === next && <FormError error={act.error} />}
    </StepRow>
  );
  return (
    <Panel title="Four steps to a first answer">
      {!edits && next !== 'question' && (
        <p class="hint">An admin or a developer of your team does the first three steps.</p>
      )}
      <ol class="overview-steps">
        {step(
          'project',
          'Create a project',
          'Create the project',
          project ? (
            <a href={link(`/projects/${id}`)}>{project.project_name}</a>
          ) : (
            <>
              <p class="hint">A project holds a goal, datasets, models and a runtime.</p>
              {edits && starters.data && (
                <SelectField
                  label="Starter"
                  value={starter}
                  options={starters.data.starters.map(({ id: value, name }) => [value, name] as const)}
                  onChange={(event) => setStarter(event.currentTarget.value)}
                />
              )}
            </>
          ),
        )}
        {step(
          'model',
          'Choose a model',
          'Connect the model',
          next === 'model' && (
            <>
              <p class="hint">It is registered in the project and connected as its runtime.</p>
              {chatModels.length > 1 ? (
                <SelectField
                  label="Model"
                  value={model}
                  options={chatModels.map(({ path }) => [path, path] as const)}
                  onChange={(event) => setModel(event.currentTarget.value)}
                />
              ) : (
                <p>
                  <code>{SHIPPED_MODEL}</code>, which comes with the service
                </p>
              )}
            </>
          ),
        )}
        {step(
          'runtime',
          'Start the runtime',
          'Start the runtime',
          project && ['runtime', 'question'].includes(next) && (
            <p role="status">
              <State of={project.state} /> {project.reason}
            </p>
          ),
        )}
        {step('question', 'Ask', 'Open the playground', <p class="hint">The answer is streamed as it is made.</p>)}
      </ol>
    </Panel>
  );
}

function StepRow(props: {
  title: string;
  button: string;
  edits: boolean;
  /** Below 0 for a step that is done, 0 for the current step. */
  at: number;
  busy: boolean;
  onAct: () => void;
  children: ComponentChildren;
}) {
  const { title, button, edits, at, busy, onAct, children } = props;
  const element = useRef<HTMLButtonElement>(null);
  const wasLater = useRef(false);
  useEffect(() => {
    if (at > 0) wasLater.current = true;
    if (at !== 0 || busy || !wasLater.current) return;
    wasLater.current = false;
    // The button of the previous step is gone, so an element that contains both steps has the focus.
    if (document.activeElement?.contains(element.current)) element.current?.focus();
  }, [at, busy]);
  return (
    <li class={at < 0 ? 'done' : at === 0 ? 'now' : 'later'} aria-current={at === 0 ? 'step' : undefined}>
      <div>
        <h3>
          {title} {at < 0 && <span class="state good">done</span>}
        </h3>
        {children}
      </div>
      {at >= 0 && edits && (
        <button
          ref={element}
          type="button"
          class={at === 0 ? 'button primary' : 'button'}
          disabled={at > 0 || busy}
          aria-busy={busy}
          onClick={onAct}
        >
          {busy && at === 0 ? 'One moment …' : button}
        </button>
      )}
      {at < 0 && <Icon name="check" />}
    </li>
  );
}
