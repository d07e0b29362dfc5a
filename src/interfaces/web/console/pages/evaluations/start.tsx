import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { formatShare } from '../../shared/format.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link, navigate, query, setQuery } from '../../shared/router.js';
import { Loading, State } from '../../shared/states.js';

type Projects = Schemas['ProjectList'];
type Project = Schemas['Project'];

/** The states of a started runtime. An evaluation waits until the model is loaded. */
const STARTED = ['ready', 'loading', 'unavailable'];

export const readDatasets = (project: string) =>
  answer(api.GET('/v1/projects/{project_id}/datasets', { params: { path: { project_id: project } } }));

/** Starts an evaluation. The user chooses a project with a started runtime and one of its frozen datasets. */
export function StartDialog({ projects }: { projects: Query<Projects> }) {
  const project = query.value.get('project');
  const wanted = query.value.get('dataset');
  const [chosen, choose] = useState<string | null>(null);
  const all = projects.data?.projects ?? [];
  const started = all.filter(({ runtime }) => STARTED.includes(runtime.state));
  const picked = all.find(({ id }) => id === project) ?? (started.length === 1 ? started[0] : undefined);
  const datasets = useQuery(picked ? `all datasets ${picked.id}` : null, () => readDatasets(picked?.id ?? ''));
  const frozen = (datasets.data?.datasets ?? []).filter(({ state }) => state === 'frozen');
  const usual = [wanted, picked?.spec.dataset_id].find((id) => frozen.some((one) => one.id === id)) ?? frozen[0]?.id;
  const dataset = frozen.find(({ id }) => id === chosen)?.id ?? usual;
  const close = () => setQuery({ start: null, dataset: null });
  const [values, setValues] = useState({ name: '' });
  const starting = useForm(values, setValues, async () => {
    const name = values.name.trim();
    const measured = { project_id: picked?.id ?? '', dataset_id: dataset ?? '', ...(name && { name }) };
    const job = await answer(api.POST('/v1/jobs', { body: { kind: 'evaluation', ...measured } }));
    navigate(link(`/evaluations/${job.id}`), { replace: true });
  });
  const ready = picked !== undefined && STARTED.includes(picked.runtime.state) && dataset !== undefined;
  return (
    <Dialog title="Start an evaluation" onClose={close}>
      <Form act={starting} submit={ready && 'Start'} onCancel={close}>
        <SelectField
          label="Project"
          value={picked?.id ?? ''}
          options={[
            ...(picked ? [] : [['', 'Choose a project'] as const]),
            ...all.map((one) => [one.id, titleOf(one)] as const),
          ]}
          onChange={(event) => setQuery({ project: event.currentTarget.value })}
        />
        {!projects.data && <Loading what="the projects" bars={1} />}
        {picked && !STARTED.includes(picked.runtime.state) && (
          <p class="note warn">
            The runtime of this project is {picked.runtime.state.replaceAll('_', ' ')}.{' '}
            <a href={link(`/projects/${picked.id}`)}>Connect and start it</a>, then start the evaluation.
          </p>
        )}
        {picked && datasets.data && frozen.length === 0 && (
          <p class="note warn">
            This project has no frozen dataset. <a href={link(`/projects/${picked.id}/datasets`)}>Freeze one</a>, then
            start the evaluation.
          </p>
        )}
        {frozen.length > 0 && (
          <SelectField
            label="Frozen dataset"
            value={dataset}
            options={frozen.map(({ id, name, record_count }) => [id, `${name}, ${record_count} records`] as const)}
            onChange={(event) => choose(event.currentTarget.value)}
          />
        )}
        <Field
          label="Name"
          maxLength={200}
          placeholder={frozen.find(({ id }) => id === dataset)?.name}
          hint="What is new in this run. Without a name, it has the name of the dataset."
          {...starting.field('name')}
        />
        {picked && <Measure project={picked} />}
      </Form>
    </Dialog>
  );
}

const titleOf = ({ name, runtime: { state } }: Project): string =>
  STARTED.includes(state) ? name : `${name} (runtime ${state.replaceAll('_', ' ')})`;

/** Shows the properties of the evaluation. The specification of the project sets them. */
function Measure({ project: { id, spec, runtime, models } }: { project: Project }) {
  const { acceptance, response_format: format } = spec;
  const model = models.find((one) => one.id === runtime.model_id)?.spec as
    | { path?: string; model?: string }
    | undefined;
  return (
    <>
      <dl class="facts">
        <dt>Model</dt>
        <dd>
          {model?.path ?? model?.model ?? 'none'} <State of={runtime.state} />
        </dd>
        <dt>Metric</dt>
        <dd>
          {acceptance?.metric ?? 'normalized'}
          {typeof acceptance?.field === 'string' && `, field ${acceptance.field}`}
        </dd>
        <dt>Accepted from</dt>
        <dd>{typeof acceptance?.threshold === 'number' ? formatShare(acceptance.threshold) : 'no threshold'}</dd>
        <dt>Response format</dt>
        <dd>{format?.type ?? 'text'}</dd>
      </dl>
      <p class="hint">
        The <a href={link(`/projects/${id}`)}>specification</a> sets the metric, the threshold, the system prompt and
        the response format.
      </p>
    </>
  );
}
