import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { ApiError, answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct, Dialog } from '../../shared/dialog.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { IconButton } from '../../shared/icon.js';
import { modelName } from '../../shared/models.js';
import { usePeople } from '../../shared/people.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Loaded, Time } from '../../shared/states.js';
import { Table } from '../../shared/table.js';
import { report, toast } from '../../shared/toasts.js';

type Model = Schemas['Model'];
type Alias = Schemas['ListedModelAlias'];
type Aliases = Query<Schemas['ModelAliases']>;

const ALIAS = '/v1/projects/{project_id}/models/aliases/{alias}';

/** Lists the aliases of a project. `alias` in the address opens the history of one alias. */
export function AliasesPanel(props: { projectId: string; aliases: Aliases; models: readonly Model[] }) {
  const { projectId, aliases, models } = props;
  const [moved, move] = useState<Alias | 'new' | null>(null);
  const opened = query.value.get('alias');
  const registered = models.filter(({ state }) => state === 'registered');
  const mayEdit = can('edit_workspace') && registered.length > 0;
  const nameOf = (id: string | null) => {
    const model = models.find((one) => one.id === id);
    return model ? modelName(model) : (id ?? 'deleted');
  };
  const remove = async ({ alias, version }: Alias) => {
    const text = 'Callers that name it get no model any more. Its history stays.';
    if (!(await confirmAct({ title: `Delete the alias ${alias}?`, text, act: 'Delete the alias' }))) return;
    const path = { project_id: projectId, alias };
    const params = { path, header: { 'If-Match': `"${version}"` } };
    await report(answer(api.DELETE(ALIAS, { params })), `The alias ${alias} is deleted.`);
    await aliases.reload();
  };
  const columns = [
    { title: 'Alias', cell: ({ alias }: Alias) => <strong>{alias}</strong> },
    {
      title: 'Model',
      cell: ({ model_id }: Alias) => <a href={link(`/projects/${projectId}/models/${model_id}`)}>{nameOf(model_id)}</a>,
    },
    { title: 'Changed', minor: true, cell: ({ updated_at }: Alias) => <Time at={updated_at} /> },
    {
      title: 'Actions',
      acts: true,
      cell: (one: Alias) => (
        <span class="models-acts">
          <button type="button" class="button small" onClick={() => setQuery({ alias: one.alias })}>
            History
          </button>
          {mayEdit && (
            <>
              <button type="button" class="button small" onClick={() => move(one)}>
                Move
              </button>
              <IconButton icon="trash" label={`Delete the alias ${one.alias}`} onClick={() => void remove(one)} />
            </>
          )}
        </span>
      ),
    },
  ];
  return (
    <Panel
      title="Aliases"
      actions={
        mayEdit && (
          <button type="button" class="button small" onClick={() => move('new')}>
            Set an alias
          </button>
        )
      }
    >
      <Loaded query={aliases} what="the aliases">
        {({ aliases: rows }) =>
          rows.length > 0 ? (
            <Table label="Aliases" rowKey={({ alias }) => alias} rows={rows} columns={columns} />
          ) : (
            <p class="hint">
              An alias is a name that can move from one registered model to the next, such as champion.
            </p>
          )
        }
      </Loaded>
      {moved && (
        <AliasDialog
          projectId={projectId}
          alias={moved === 'new' ? null : moved}
          models={registered}
          aliases={aliases}
          onClose={() => move(null)}
        />
      )}
      {opened && (
        <AliasHistory projectId={projectId} alias={opened} nameOf={nameOf} onClose={() => setQuery({ alias: null })} />
      )}
    </Panel>
  );
}

/** Sets a new alias, or moves an alias to another registered model. */
export function AliasDialog(props: {
  projectId: string;
  alias: Alias | null;
  models: readonly Model[];
  aliases: Aliases;
  onClose: () => void;
}) {
  const { projectId, alias, models, aliases, onClose } = props;
  const [values, setValues] = useState({
    alias: alias?.alias ?? '',
    model_id: (models.find(({ id }) => id !== alias?.model_id) ?? models[0])?.id ?? '',
  });
  const setting = useForm(values, setValues, async () => {
    // An empty name would call another route.
    const path = { project_id: projectId, alias: values.alias.trim() || ' ' };
    const body = { model_id: values.model_id, ...(alias && { version: alias.version }) };
    try {
      await answer(api.PUT(ALIAS, { params: { path }, body }));
      const model = models.find(({ id }) => id === values.model_id);
      toast(`The alias ${values.alias.trim()} points to ${model ? modelName(model) : values.model_id} now.`);
      onClose();
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.currentVersion === null) throw reason;
      throw new ApiError(409, reason.code, 'The alias was moved meanwhile. Close this, and look at its history.');
    } finally {
      void aliases.reload();
    }
  });
  return (
    <Dialog title={alias ? `Move ${alias.alias}` : 'Set an alias'} onClose={onClose}>
      <Form act={setting} submit={alias ? 'Move' : 'Set'} onCancel={onClose}>
        {!alias && <Field label="Alias" required placeholder="champion" {...setting.field('alias')} />}
        <SelectField
          label="Registered model"
          options={models.map((one) => [one.id, modelName(one)] as const)}
          {...setting.field('model_id')}
        />
      </Form>
    </Dialog>
  );
}

function AliasHistory(props: {
  projectId: string;
  alias: string;
  nameOf: (modelId: string | null) => string;
  onClose: () => void;
}) {
  const { projectId, alias, nameOf, onClose } = props;
  const personOf = usePeople();
  const history = useQuery(`alias ${projectId} ${alias}`, () =>
    answer(api.GET(ALIAS, { params: { path: { project_id: projectId, alias } } })),
  );
  return (
    <Dialog title={`History of ${alias}`} onClose={onClose}>
      <Loaded query={history} what="the history">
        {({ history: changes }) => (
          <Table
            label={`History of ${alias}`}
            rowKey={({ version }) => String(version)}
            rows={changes}
            columns={[
              {
                title: 'Pointed to',
                cell: ({ model_id, version }) => (
                  <>
                    {model_id === null ? (
                      'nothing: it was deleted'
                    ) : (
                      <a href={link(`/projects/${projectId}/models/${model_id}`)}>{nameOf(model_id)}</a>
                    )}{' '}
                    {version === changes[0]?.version && <span class="badge">now</span>}
                  </>
                ),
              },
              { title: 'By', cell: ({ changed_by }) => personOf(changed_by) },
              { title: 'When', cell: ({ changed_at }) => <Time at={changed_at} /> },
            ]}
          />
        )}
      </Loaded>
    </Dialog>
  );
}
