import { useState } from 'preact/hooks';
import { can, forUser } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Field, Form, SelectField, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { modelName } from '../../shared/models.js';
import { link } from '../../shared/router.js';
import { State } from '../../shared/states.js';
import { Table } from '../../shared/table.js';
import { toast } from '../../shared/toasts.js';

type Project = Schemas['Project'];
type Target = Schemas['RuntimeTarget'];

/** The most models after the first one. */
const MOST_FALLBACKS = 3;

const TONES = { closed: 'good', half_open: 'warn', open: 'bad' } as const;

const KINDS = [
  ['fallbacks', 'one model, and others if it fails'],
  ['split', 'a model that each call draws by weight'],
] as const;

/** Shows the models that calls of a project try, with their shares and breakers, and lets developers choose them. */
export function TargetsPanel({ project, reload }: { project: Project; reload: () => Promise<void> }) {
  const { id, runtime, models } = project;
  if (runtime.targets.length === 0) return null;
  const named = ({ model_id }: Target) => {
    const model = models.find((one) => one.id === model_id);
    return model ? (
      <a href={link(`/projects/${id}/models/${model_id}`)}>{modelName(model)}</a>
    ) : (
      <code>{model_id}</code>
    );
  };
  const { model_id, fallbacks, split } = runtime;
  return (
    <Panel title="Models for calls">
      <div class="stack">
        <Table
          label="Models for calls"
          rows={runtime.targets}
          rowKey={(target) => target.model_id}
          columns={[
            { title: 'Model', cell: named, long: true },
            { title: 'Calls', cell: shareOf },
            { title: 'State', cell: stateOf },
            { title: 'Breaker', cell: breakerOf },
          ]}
        />
        {can('edit_workspace') && models.length > 1 && (
          <TargetsForm key={JSON.stringify([model_id, fallbacks, split])} project={project} reload={reload} />
        )}
      </div>
    </Panel>
  );
}

const shareOf = ({ share }: Target) => (share === 0 ? 'if others fail' : `${Math.round(100 * share)}\u00a0%`);

const stateOf = ({ state, reason }: Target) => (
  <>
    <State of={state} />
    {reason && <span class="hint"> {forUser(reason)}</span>}
  </>
);

const breakerOf = ({ breaker, retry_after }: Target) => (
  <>
    <State of={breaker} tone={TONES[breaker]} />
    {retry_after !== null && <span class="hint"> for {retry_after} s</span>}
  </>
);

function TargetsForm({ project, reload }: { project: Project; reload: () => Promise<void> }) {
  const { runtime, models } = project;
  const first = runtime.model_id as string;
  const [kind, setKind] = useState<string>(runtime.split ? 'split' : 'fallbacks');
  const [fallbacks, setFallbacks] = useState<readonly string[]>(runtime.fallbacks);
  const [weights, setWeights] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      (runtime.split ?? [{ model_id: first, weight: 1 }]).map((one) => [one.model_id, `${one.weight}`]),
    ),
  );
  const save = useAction(async () => {
    const split = Object.entries(weights)
      .filter(([, weight]) => weight.trim() !== '')
      .map(([model_id, weight]) => ({ model_id, weight: Number(weight) }));
    const body =
      kind === 'split' ? { model_id: first, split } : { model_id: first, fallbacks: fallbacks.filter(Boolean) };
    const params = { path: { project_id: project.id } };
    await answer(api.PUT('/v1/projects/{project_id}/runtime', { params, body }));
    toast('The models for calls are saved.');
    await reload();
  });
  const others = models.filter(({ id }) => id !== first);
  const choose = (at: number, value: string) =>
    setFallbacks(Array.from({ length: MOST_FALLBACKS }, (_, i) => (i === at ? value : (fallbacks[i] ?? ''))));
  return (
    <Form act={save} submit="Save the models" plain>
      <SelectField
        label="A call tries first"
        value={kind}
        options={KINDS}
        onInput={(event) => setKind(event.currentTarget.value)}
      />
      {kind === 'split'
        ? models.map((model) => (
            <Field
              key={model.id}
              label={`Weight of ${modelName(model)}`}
              hint="Empty: calls do not try it."
              inputMode="decimal"
              value={weights[model.id] ?? ''}
              onInput={(event) => setWeights({ ...weights, [model.id]: event.currentTarget.value })}
            />
          ))
        : others
            .slice(0, MOST_FALLBACKS)
            .map((_, at) => (
              <SelectField
                key={at}
                label={`Fallback ${at + 1}`}
                value={fallbacks[at] ?? ''}
                options={[['', 'none'], ...others.map((model) => [model.id, modelName(model)] as const)]}
                onInput={(event) => choose(at, event.currentTarget.value)}
              />
            ))}
    </Form>
  );
}
