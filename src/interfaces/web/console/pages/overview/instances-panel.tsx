import type { ComponentChildren } from 'preact';
import { isOperator } from '../../shared/account.js';
import type { Schemas } from '../../shared/api.js';
import { formatBytes, formatNumber } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { link } from '../../shared/router.js';
import { State, Time } from '../../shared/states.js';
import { type Column, Table } from '../../shared/table.js';
import { countsOf, type Instance, readiness, versionsOf } from './instances.js';

/** Shows operators the instances of the service, if there are several. Warns if they run different versions. */
export function InstancesPanel({ instances, runtimes }: Pick<Schemas['Status'], 'instances' | 'runtimes'>) {
  if (!isOperator() || instances.length < 2) return null;
  const versions = versionsOf(instances);
  const names = new Map(runtimes.map(({ project_id, project_name }) => [project_id, project_name]));
  return (
    <Panel title="Instances">
      {versions.length > 1 && (
        <p class="note warn overview-update" role="status">
          A rolling update is under way: the instances run the versions {versions.join(', ')}.
        </p>
      )}
      <Table label="Instances" columns={columnsOf(names)} rows={instances} rowKey={keyOf} />
    </Panel>
  );
}

/** Instances may have the same name if somebody gave it to them. */
const keyOf = ({ name, since }: Instance) => `${name} ${since}`;

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Instance>[] => [
  {
    title: 'Name',
    long: true,
    cell: ({ name, state, answering }) => (
      <>
        {name} {state !== 'ready' && <State of={state} />} {answering && <span class="hint">answers you</span>}
      </>
    ),
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Since', cell: ({ since }) => <Time at={since} /> },
  { title: 'Runtimes', cell: ({ runtimes }) => <Runtimes runtimes={runtimes} names={names} /> },
  {
    title: 'Deployments',
    minor: true,
    cell: ({ deployments }) => (
      <Models>
        {countsOf(deployments.map(({ status }) => status)).map(([status, count]) => (
          <li key={status}>
            {formatNumber(count)} <State of={status} />
          </li>
        ))}
      </Models>
    ),
  },
  { title: 'Waiting calls', numeric: true, cell: ({ waiting_calls }) => formatNumber(waiting_calls) },
  { title: 'Memory', numeric: true, cell: ({ memory_bytes }) => formatBytes(memory_bytes) },
];

const Models = ({ children }: { children: ComponentChildren }) => <ul class="overview-models">{children}</ul>;

function Runtimes({ runtimes, names }: Pick<Instance, 'runtimes'> & { names: ReadonlyMap<string, string> }) {
  const { ready, named, more } = readiness(runtimes);
  return (
    <Models>
      {ready > 0 && (
        <li>
          {formatNumber(ready)} <State of="ready" />
        </li>
      )}
      {named.map(({ project_id, model_id, state }) => (
        <li key={project_id + model_id}>
          <a dir="auto" href={link(`/projects/${project_id}`)}>
            {names.get(project_id) ?? project_id}
          </a>{' '}
          <State of={state} />
        </li>
      ))}
      {more > 0 && <li class="hint">and {formatNumber(more)} more</li>}
    </Models>
  );
}
