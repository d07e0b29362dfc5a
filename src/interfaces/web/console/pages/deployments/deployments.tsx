import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Frame, Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { link, path, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import { type Column, Table } from '../../shared/table.js';
import { DeployDialog } from './deploy-dialog.js';
import { ModelFiles } from './model-files.js';

type Deployment = Schemas['Deployment'];

const EVERY_MS = 10_000;
const EVERY_MS_WHILE_STARTING = 2_500;

const COLUMNS: readonly Column<Deployment>[] = [
  {
    title: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => <a href={link(`/deployments/${id}`)}>{name}</a>,
  },
  {
    title: 'Status',
    sortBy: ({ status }) => status,
    cell: ({ status, reason }) => (
      <>
        <State of={status} />
        {reason && <p class="hint">{reason}</p>}
      </>
    ),
  },
  {
    title: 'Model',
    minor: true,
    cell: ({ model_path, model_name, endpoint }) => <code>{model_path ?? `${model_name} at ${endpoint}`}</code>,
  },
  {
    title: 'Restarts',
    minor: true,
    numeric: true,
    sortBy: ({ restarts }) => restarts,
    cell: ({ restarts }) => restarts,
  },
  {
    title: 'Created',
    minor: true,
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

export function Deployments() {
  const manages = can('manage_monitoring');
  const text = searchText()?.toLowerCase() ?? '';
  const list = useQuery('deployments', () => answer(api.GET('/v1/deployments')), {
    everyMs: (data) =>
      data?.deployments.some(({ status }) => status === 'starting') ? EVERY_MS_WHILE_STARTING : EVERY_MS,
  });
  const deploy = (
    <a class="button primary" href={link(path.value, { dialog: 'deploy' })}>
      <Icon name="plus" /> Deploy a model
    </a>
  );
  return (
    <Frame
      title="Deployments"
      about="Each deployment serves one model for predictions: an ONNX file, or a model on an engine elsewhere."
      actions={manages && deploy}
    >
      <Loaded query={list} what="the deployments">
        {({ deployments }) =>
          deployments.length === 0 ? (
            <Empty icon="deployments" title="Nothing is deployed yet">
              <p>{manages ? 'Deploy a model to predict with it.' : 'An admin or a developer can deploy a model.'}</p>
            </Empty>
          ) : (
            <Panel title="Deployed models">
              <div class="filters">
                <SearchField placeholder="Part of a name" />
              </div>
              <Table
                label="Deployments"
                columns={COLUMNS}
                rows={deployments.filter(({ name }) => name.toLowerCase().includes(text))}
                none="No deployment has this in its name."
                rowKey={({ id }) => id}
                sort="sort"
              />
            </Panel>
          )
        }
      </Loaded>
      <ModelFiles />
      {manages && query.value.get('dialog') === 'deploy' && (
        <DeployDialog onClose={() => setQuery({ dialog: null, kind: null })} />
      )}
    </Frame>
  );
}
