import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { can, offers, whyNotYet } from '../../shared/account.js';
import { ActionButton } from '../../shared/action-button.js';
import { answer, api } from '../../shared/api.js';
import { confirmAct, Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { ExportButton } from '../../shared/export-button.js';
import { Field, Form, useForm } from '../../shared/form.js';
import { plural } from '../../shared/format.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { ProjectFrame } from '../../shared/project-frame.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link, navigate, query } from '../../shared/router.js';
import { Loaded, Time } from '../../shared/states.js';
import { toast, toastError } from '../../shared/toasts.js';
import { at, type Dataset, readDataset } from './calls.js';
import type { Changes } from './changes.js';
import { Compare } from './compare.js';
import { DatasetState } from './datasets.js';
import { Records } from './records.js';
import { Versions } from './versions.js';

const PATH = '/v1/projects/{project_id}/datasets/{dataset_id}';
const VIEWS = [
  ['', 'Records'],
  ['versions', 'Versions'],
  ['compare', 'Compare'],
] as const;

export function DatasetPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const { project_id: project = '', dataset_id: id = '' } = parameters;
  return <OneDataset key={id} project={project} id={id} />;
}

function OneDataset({ project, id }: { project: string; id: string }) {
  const dataset = useQuery(`dataset ${id}`, () => readDataset(project, id));
  const [changes, keepChanges] = useDraft<Changes>(`dataset ${id}`);
  const view = query.value.get('view') ?? '';
  const loaded = dataset.data;
  /** Deletes the dataset, also one that cannot be shown. */
  const remove = async () => {
    const name = loaded?.name ?? 'the dataset';
    const content = loaded ? `, with ${plural(loaded.record_count, 'record')}` : '';
    const text = `All versions of it are deleted${content}.`;
    if (!(await confirmAct({ title: `Delete ${name}?`, text, act: 'Delete' }))) return;
    try {
      await answer(api.DELETE(PATH, { params: at(project, id) }));
      keepChanges(null);
      toast(`${loaded?.name ?? 'The dataset'} is deleted.`);
      navigate(link(`/projects/${project}/datasets`));
    } catch (reason) {
      toastError(reason);
    }
  };
  return (
    <ProjectFrame
      id={project}
      title={loaded?.name ?? 'Dataset'}
      actions={
        loaded && (
          <Acts project={project} dataset={loaded} loaded={dataset} changed={changes !== null} remove={remove} />
        )
      }
    >
      <Loaded
        query={dataset}
        what="the dataset"
        remedies={
          can('edit_workspace') && (
            <button type="button" class="button small danger" onClick={() => void remove()}>
              Delete the dataset
            </button>
          )
        }
      >
        {(found) => (
          <>
            <Facts project={project} dataset={found} />
            <nav class="dataset-views" aria-label="Parts of the dataset">
              {VIEWS.map(([name, title]) => (
                <a
                  key={name}
                  class="button small"
                  href={link(`/projects/${project}/datasets/${id}`, { view: name })}
                  aria-current={view === name ? 'page' : undefined}
                >
                  {title}
                </a>
              ))}
            </nav>
            {view === 'versions' ? (
              <Versions project={project} dataset={found} />
            ) : view === 'compare' ? (
              <Compare project={project} dataset={found} />
            ) : (
              <Records project={project} loaded={dataset} changes={changes} onChange={keepChanges} />
            )}
          </>
        )}
      </Loaded>
    </ProjectFrame>
  );
}

function Facts({ project, dataset }: { project: string; dataset: Dataset }) {
  const { record_count, version, updated_at, frozen_at, forked_from, content_sha256 } = dataset;
  return (
    <dl class="dataset-facts">
      <Fact name="State">
        <DatasetState {...dataset} />
      </Fact>
      <Fact name="Records">{record_count}</Fact>
      <Fact name="Version">{version}</Fact>
      <Fact name={frozen_at ? 'Frozen' : 'Changed'}>
        <Time at={frozen_at ?? updated_at} />
      </Fact>
      {forked_from && (
        <Fact name="Fork of">
          <a href={link(`/projects/${project}/datasets/${forked_from.dataset_id}`)}>version {forked_from.version}</a>
        </Fact>
      )}
      <Fact name="Content">
        <code title={`SHA-256 of the records: ${content_sha256}`}>{content_sha256.slice(0, 12)}</code>
      </Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Acts(props: {
  project: string;
  dataset: Dataset;
  loaded: Query<Dataset>;
  /** True if there are unsaved changes of records. */
  changed: boolean;
  remove: () => Promise<void>;
}) {
  const { project, dataset, loaded, changed, remove } = props;
  const { id, name, state, version, validation } = dataset;
  const [renaming, setRenaming] = useState(false);
  const mayEdit = can('edit_workspace');
  const obstacle = changed
    ? 'Save or drop the changed records first.'
    : validation.valid
      ? undefined
      : 'The findings below keep it from being frozen.';
  const attempt = async (act: () => Promise<void>) => act().catch(toastError);
  const freeze = async () => {
    const text = 'A frozen dataset never changes again. To change it later, fork it.';
    if (!(await confirmAct({ title: `Freeze ${name}?`, text, act: 'Freeze' }))) return;
    await attempt(async () => {
      loaded.set(await answer(api.POST(`${PATH}/freeze`, { params: at(project, id), body: { version } })));
      toast(`${name} is frozen.`);
    });
  };
  const fork = () =>
    attempt(async () => {
      const forked = await answer(api.POST(`${PATH}/fork`, { params: at(project, id) }));
      toast(`${forked.name} is an editable copy.`);
      navigate(link(`/projects/${project}/datasets/${forked.id}`));
    });
  return (
    <>
      {mayEdit && state === 'editable' && (
        <>
          <IconButton icon="trash" label="Delete the dataset" onClick={remove} />
          <IconButton icon="edit" label="Rename the dataset" onClick={() => setRenaming(true)} />
        </>
      )}
      <ExportButton
        what={name}
        ask={(format) =>
          api.GET(`${PATH}/export`, { params: { ...at(project, id), query: { format, version } }, parseAs: 'blob' })
        }
      />
      {mayEdit && (
        <button type="button" class="button" onClick={fork}>
          <Icon name="fork" /> Fork
        </button>
      )}
      {mayEdit && state === 'editable' && (
        <ActionButton whyNot={obstacle ?? null} class={obstacle ? 'button' : 'button primary'} onClick={freeze}>
          <Icon name="lock" /> Freeze
        </ActionButton>
      )}
      {state === 'frozen' && offers('run_evaluations') && (
        <ActionButton
          whyNot={whyNotYet('run_evaluations')}
          class="button primary"
          href={link('/evaluations', { project, dataset: id, start: 'yes' })}
        >
          <Icon name="evaluations" /> Evaluate
        </ActionButton>
      )}
      {renaming && (
        <Rename project={project} dataset={dataset} onRenamed={loaded.set} onClose={() => setRenaming(false)} />
      )}
    </>
  );
}

function Rename(props: {
  project: string;
  dataset: Dataset;
  onRenamed: (dataset: Dataset) => void;
  onClose: () => void;
}) {
  const { project, dataset, onRenamed, onClose } = props;
  const [values, setValues] = useState({ name: dataset.name });
  const saving = useForm(values, setValues, async () => {
    const body = { version: dataset.version, ...values };
    onRenamed(await answer(api.PUT(PATH, { params: at(project, dataset.id), body })));
    onClose();
  });
  return (
    <Dialog title="Rename the dataset" onClose={onClose}>
      <Form act={saving} submit="Rename" onCancel={onClose}>
        <Field label="Name" required maxLength={200} {...saving.field('name')} />
      </Form>
    </Dialog>
  );
}
