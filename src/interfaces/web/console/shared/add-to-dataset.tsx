import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from './api.js';
import { Dialog } from './dialog.js';
import { useDraft } from './draft.js';
import { Field, Form, fieldError, SelectField, useAction } from './form.js';
import { useQuery } from './query.js';
import { Loading, QueryError } from './states.js';
import { toast } from './toasts.js';

type Appendix = Schemas['DatasetAppendix'];
type Dataset = Pick<Schemas['DatasetEntry'], 'id' | 'name'>;

/** One way to make a record. */
export interface RecordChoice {
  /** The expected value of the record in words, such as `The answer of the call`. */
  readonly words: string;
  /** The body of the request to the service. */
  readonly body: { readonly records: readonly object[] } | Pick<Appendix, 'from_calls'>;
}

const PATH = '/v1/projects/{project_id}/datasets';
const NEW = 'new';
const MOST_LISTED = 250;

/**
 * Adds a record to a dataset that can be changed, or to a new one. `choices` are the ways to make the record: the first
 * one is the usual one.
 */
export function AddToDataset(props: { project: string; choices: readonly RecordChoice[]; onClose: () => void }) {
  const { project, choices, onClose } = props;
  const path = { project_id: project };
  const [last, keepLast] = useDraft<string>(`add to dataset ${project}`);
  const [wanted, want] = useState(last ?? '');
  const [name, setName] = useState('From calls');
  const [at, choose] = useState(0);
  const datasets = useQuery(`editable datasets ${project}`, () =>
    answer(api.GET(PATH, { params: { path, query: { limit: MOST_LISTED } } })),
  );
  const editable: readonly Dataset[] = datasets.data?.datasets.filter(({ state }) => state === 'editable') ?? [];
  const dataset = editable.find(({ id }) => id === wanted) ?? (wanted === NEW ? null : (editable[0] ?? null));
  /** Puts the new dataset into the list, so that a second attempt, or the next dialog, does not make another one. */
  const create = async (): Promise<Dataset> => {
    const made = await answer(api.POST(PATH, { params: { path }, body: { name, records: [] } }));
    if (datasets.data) datasets.set({ ...datasets.data, datasets: [made, ...datasets.data.datasets] });
    want(made.id);
    return made;
  };
  const adding = useAction(async () => {
    const choice = choices[at];
    if (!choice) return;
    const into = dataset ?? (await create());
    const params = { path: { ...path, dataset_id: into.id } };
    const done = await answer(api.POST(`${PATH}/{dataset_id}/records`, { params, body: choice.body as never }));
    keepLast(into.id);
    toast(
      done.duplicates > 0
        ? `${into.name} has a record with this content already. Nothing is added.`
        : `The record ${done.added.join(', ')} is added to ${into.name}, version ${done.version}.`,
    );
    onClose();
  });
  return (
    <Dialog title="Add to a dataset" onClose={onClose}>
      {datasets.data === undefined ? (
        (datasets.error && <QueryError query={datasets} />) || <Loading what="the datasets" bars={2} />
      ) : (
        <Form act={{ ...adding, fields: ['name'] }} submit="Add the record" onCancel={onClose}>
          <SelectField
            label="Dataset"
            value={dataset?.id ?? NEW}
            options={[...editable.map((one) => [one.id, one.name] as const), [NEW, 'A new dataset']]}
            hint="Frozen datasets do not change, so they are not listed."
            onChange={(event) => want(event.currentTarget.value)}
          />
          {!dataset && (
            <Field
              label="Name of the new dataset"
              maxLength={200}
              value={name}
              error={fieldError(adding.error, 'name')}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
          <SelectField
            label="Expected value"
            value={String(at)}
            options={choices.map(({ words }, index) => [String(index), words] as const)}
            hint="Evaluations compare answers with it."
            onChange={(event) => choose(Number(event.currentTarget.value))}
          />
        </Form>
      )}
    </Dialog>
  );
}
