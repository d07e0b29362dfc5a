import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { FormError, SelectField, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { link, navigate } from '../../shared/router.js';
import { State } from '../../shared/states.js';
import {
  connect,
  createProject,
  EXAMPLE_STARTER,
  playgroundOf,
  SHIPPED_MODEL,
  setUpExample,
  start,
} from './example.js';
import { type KnownRuntime, progressOf, type Step, steps } from './steps.js';

/** Leads from an empty service to a first answer in four steps. Shows which steps are done. One button does them all. */
export function FirstSteps(props: {
  runtimes: readonly KnownRuntime[];
  /** Returns the present runtimes, and shows them. */
  refresh: () => Promise<readonly KnownRuntime[]>;
}) {
  const { runtimes, refresh } = props;
  const [starter, setStarter] = useState(EXAMPLE_STARTER);
  const [model, setModel] = useState(SHIPPED_MODEL);
  /** The project of the example after its button was pressed, or '' until it is known. The steps are about it then. */
  const [example, setExample] = useState<string | null>(null);
  const { project, next } = progressOf(
    example === null ? runtimes : runtimes.filter(({ project_id }) => project_id === example),
  );
  const edits = can('edit_workspace');
  const starters = useQuery(edits ? 'starters' : null, () => answer(api.GET('/v1/project-starters')));
  const files = useQuery(edits && can('read_monitoring') ? 'model files' : null, () =>
    answer(api.GET('/v1/model-files')),
  );
  const chatModels = (files.data?.model_files ?? []).filter(({ kind }) => kind === 'chat_model');
  const id = project?.project_id ?? '';
  const acts: Record<Step, () => Promise<unknown>> = {
    project: () => createProject(starter),
    model: () => connect(id, model),
    runtime: () => start(id),
    question: async () => navigate(await playgroundOf(id)),
  };
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const all = useAction(async () => {
    one.clear();
    setExample((known) => known ?? '');
    navigate(await setUpExample({ project: setExample, refresh, stopping: leaving.current.signal }));
  });
  const one = useAction(async () => {
    all.clear();
    await acts[next]();
    if (next !== 'question') await refresh();
  });
  const error = all.error ?? one.error;
  const isLoading = project?.state === 'loading';
  const offersAll = edits && (all.busy || next !== 'question');
  const press = () => void (one.busy || all.run());
  const step = (name: Step, title: string, button: string, children: ComponentChildren) => (
    <StepRow
      key={name}
      {...{ title, button, edits: edits || name === 'question' }}
      at={steps.indexOf(name) - steps.indexOf(next)}
      busy={one.busy || all.busy || (name === 'runtime' && isLoading)}
      failed={name === next && error !== undefined}
      primary={!offersAll}
      onAct={() => void one.run()}
    >
      {children}
      {name === next && <FormError error={error} />}
    </StepRow>
  );
  return (
    <Panel title="Four steps to a first answer">
      {!edits && next !== 'question' && (
        <p class="hint">An admin or a developer of your team does the first three steps.</p>
      )}
      {offersAll && (
        <div class="overview-example">
          {/* It stays enabled, so that it keeps the focus while it works. */}
          <button type="button" class="button primary" aria-disabled={all.busy} aria-busy={all.busy} onClick={press}>
            {all.busy ? 'One moment …' : error ? 'Go on with the example' : 'Set up an example'}
          </button>
          <p role="status">
            {all.busy
              ? `Step ${steps.indexOf(next) + 1} of ${steps.length} …`
              : `It does the steps for you, with questions about capital cities and the model ${SHIPPED_MODEL}.`}
          </p>
        </div>
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
  failed: boolean;
  /** Whether the button of the current step is the main one of the page. */
  primary: boolean;
  onAct: () => void;
  children: ComponentChildren;
}) {
  const { title, button, edits, at, busy, failed, primary, onAct, children } = props;
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
          {at === 0 && busy && <span class="state busy">running</span>}
          {at === 0 && !busy && failed && <span class="state bad">failed</span>}
        </h3>
        {children}
      </div>
      {at >= 0 && edits && (
        <button
          ref={element}
          type="button"
          class={at === 0 && primary ? 'button primary' : 'button'}
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
