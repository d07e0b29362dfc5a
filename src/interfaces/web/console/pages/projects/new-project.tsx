import { useState } from 'preact/hooks';
import { answer, api } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { Field, Form, useForm } from '../../shared/form.js';
import { plural } from '../../shared/format.js';
import { useQuery } from '../../shared/query.js';
import { link, navigate, query } from '../../shared/router.js';
import { asSpec } from '../../shared/spec/fields.js';
import { Loaded } from '../../shared/states.js';
import { toastError } from '../../shared/toasts.js';

/** Creates a project, empty or from a starter with its dataset. The parameter `starter` preselects one. */
export function NewProject({ onClose }: { onClose: () => void }) {
  const starters = useQuery('project-starters', () => answer(api.GET('/v1/project-starters')));
  const [starter, setStarter] = useState(query.value.get('starter') ?? '');
  const [values, setValues] = useState({ name: '' });
  const creation = useForm(values, setValues, async () => {
    const body = { ...(values.name.trim() && values), ...(starter && { starter_id: starter }) };
    const { id, version, spec } = await answer(api.POST('/v1/projects', { body }));
    if (starter) {
      const params = { path: { project_id: id } };
      const sent = { params, body: { starter_id: starter } };
      await answer(api.POST('/v1/projects/{project_id}/datasets', sent))
        .then(({ id: dataset_id }) => {
          const change = { version, spec: asSpec({ ...spec, dataset_id }) };
          return answer(api.PUT('/v1/projects/{project_id}', { params, body: change }));
        })
        .catch(toastError); // The project exists even if its dataset fails.
    }
    navigate(link(`/projects/${id}`));
  });
  return (
    <Dialog title="New project" onClose={onClose} wide>
      <Form act={creation} submit="Create" onCancel={onClose}>
        <Field
          label="Name"
          placeholder={starters.data?.starters.find(({ id }) => id === starter)?.name ?? 'Untitled project'}
          maxLength={200}
          {...creation.field('name')}
        />
        <fieldset class="projects-starters">
          <legend>Begin with</legend>
          <Starter id="" name="Nothing" chosen={starter} choose={setStarter}>
            An empty spec.
          </Starter>
          <Loaded query={starters} what="the starters">
            {({ starters }) =>
              starters.map(({ id, name, description, dataset }) => (
                <Starter key={id} id={id} name={name} chosen={starter} choose={setStarter}>
                  {description} With a dataset of {plural(dataset.record_count, 'record')}.
                </Starter>
              ))
            }
          </Loaded>
        </fieldset>
      </Form>
    </Dialog>
  );
}

function Starter(props: {
  id: string;
  name: string;
  chosen: string;
  choose: (id: string) => void;
  children: preact.ComponentChildren;
}) {
  const { id, name, chosen, choose, children } = props;
  return (
    <label class="projects-starter">
      <input type="radio" name="starter" value={id} checked={chosen === id} onChange={() => choose(id)} />
      <span>
        <strong>{name}</strong>
        <span class="hint"> {children}</span>
      </span>
    </label>
  );
}
