import type { ComponentChildren } from 'preact';
import { can, forUser, newStatus, user } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Frame, Panel } from '../../shared/frame.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { JobState, Loaded, State, Time } from '../../shared/states.js';
import { JobLink } from '../jobs/job-link.js';
import { BudgetsNote } from './budgets-note.js';
import { FirstSteps } from './first-steps.js';
import { InstancesPanel } from './instances-panel.js';
import { NewKey } from './new-key.js';
import { StoragePanel } from './storage.js';
import { Traffic } from './traffic.js';

const STATUS_EVERY_MS = 10_000;
const LISTS_EVERY_MS = 20_000;
const CHANGING_EVERY_MS = 2_000;
const MOST_LISTED = 8;

type Runtimes = Schemas['Status']['runtimes'];

export function Overview() {
  const status = useQuery('status', newStatus, {
    everyMs: (data) => (data?.runtimes.some(({ state }) => state === 'loading') ? CHANGING_EVERY_MS : STATUS_EVERY_MS),
  });
  const refresh = async () => {
    const now = await answer(api.GET('/v1/status'));
    status.set(now);
    return now.runtimes;
  };
  const jobs = useQuery(
    can('read_jobs') ? 'newest jobs' : null,
    () => answer(api.GET('/v1/jobs', { params: { query: { limit: MOST_LISTED } } })),
    { everyMs: LISTS_EVERY_MS },
  );
  const chats = useQuery(can('read_jobs') ? 'newest chat' : null, () =>
    answer(api.GET('/v1/jobs', { params: { query: { kind: 'chat', limit: 1 } } })),
  );
  const alerts = useQuery(
    can('read_monitoring') ? 'firing alerts' : null,
    () => answer(api.GET('/v1/alerts', { params: { query: { status: 'firing', limit: MOST_LISTED } } })),
    { everyMs: LISTS_EVERY_MS },
  );
  return (
    <Frame title="Overview" about={user.value ? `Welcome, ${user.value.name}.` : undefined}>
      <NewKey />
      <Loaded query={status} what="the runtimes">
        {({ runtimes, instances, storage }) => {
          const isEmpty = !runtimes.some(isConnected);
          return (
            <>
              {alerts.data && alerts.data.count > 0 && <AlertsPanel alerts={alerts} />}
              <BudgetsNote />
              {(isEmpty || chats.data?.count === 0) && <FirstSteps runtimes={runtimes} refresh={refresh} />}
              {!isEmpty && <Traffic />}
              <div class="overview-columns">
                <div class="overview-states">
                  {!isEmpty && <RuntimesPanel runtimes={runtimes} />}
                  {can('read_monitoring') && <DeploymentsPanel />}
                  {(alerts.error || alerts.data?.count === 0) && <AlertsPanel alerts={alerts} />}
                  <StoragePanel storage={storage} />
                </div>
                {jobs.data && jobs.data.count > 0 && <JobsPanel jobs={jobs} runtimes={runtimes} />}
              </div>
              <InstancesPanel instances={instances} runtimes={runtimes} />
            </>
          );
        }}
      </Loaded>
    </Frame>
  );
}

const isConnected = ({ state }: Runtimes[number]) => state !== 'not_connected';

/** Sorts the items that are not well to the front, and shortens the list. */
const firstNotWell = <Item,>(items: readonly Item[], isWell: (item: Item) => boolean): readonly Item[] =>
  [...items].sort((one, other) => Number(isWell(one)) - Number(isWell(other))).slice(0, MOST_LISTED);

const Rows = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <ul class="overview-rows" aria-label={label}>
    {children}
  </ul>
);

const All = ({ to, of }: { to: string; of: string }) => (
  <a href={link(to)} aria-label={`All ${of}`}>
    All
  </a>
);

function RuntimesPanel({ runtimes }: { runtimes: Runtimes }) {
  const connected = firstNotWell(runtimes.filter(isConnected), ({ state }) => state === 'ready');
  return (
    <Panel title="Runtimes" actions={<All to="/projects" of="projects" />}>
      <Rows label="Runtimes">
        {connected.map(({ project_id, project_name, state, reason }) => (
          <li key={project_id}>
            <a dir="auto" href={link(`/projects/${project_id}`)}>
              {project_name}
            </a>{' '}
            <State of={state} />
            {reason && <p class="hint">{forUser(reason)}</p>}
          </li>
        ))}
      </Rows>
    </Panel>
  );
}

function DeploymentsPanel() {
  const deployments = useQuery('deployments', () => answer(api.GET('/v1/deployments')), { everyMs: LISTS_EVERY_MS });
  return (
    <Panel title="Deployments" actions={<All to="/deployments" of="deployments" />}>
      <Loaded query={deployments} what="the deployments">
        {({ deployments: all }) =>
          all.length === 0 ? (
            <p class="hint">No model file is deployed.</p>
          ) : (
            <Rows label="Deployments">
              {firstNotWell(all, ({ status }) => status === 'running').map(({ id, name, status, reason }) => (
                <li key={id}>
                  <a href={link(`/deployments/${id}`)}>{name}</a> <State of={status} />
                  {reason && <p class="hint">{reason}</p>}
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}

function AlertsPanel({ alerts }: { alerts: Query<Schemas['Alerts']> }) {
  return (
    <Panel title="Firing alerts" actions={<All to="/alerts" of="alerts" />}>
      <Loaded query={alerts} what="the alerts">
        {({ alerts: firing }) =>
          firing.length === 0 ? (
            <p class="hint">No alert is firing.</p>
          ) : (
            <Rows label="Firing alerts">
              {firing.map(({ id, title, severity, created_at }) => (
                <li key={id}>
                  <a dir="auto" href={link(`/alerts/${id}`)}>
                    {title}
                  </a>{' '}
                  <State of={severity} /> <Time at={created_at} />
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}

function JobsPanel({ jobs, runtimes }: { jobs: Query<Schemas['Jobs']>; runtimes: Runtimes }) {
  const names = new Map(runtimes.map(({ project_id, project_name }) => [project_id, project_name]));
  return (
    <Panel title="Newest jobs" actions={<All to="/jobs" of="jobs" />}>
      <Loaded query={jobs} what="the jobs">
        {({ jobs: newest }) => (
          <Rows label="Newest jobs">
            {newest.map((job) => (
              <li key={job.id}>
                <span class="overview-job">
                  <JobLink job={job} /> <span class="hint">{names.get(job.project_id ?? '')}</span>
                </span>
                <JobState of={job.status} /> <Time at={job.created_at} />
              </li>
            ))}
          </Rows>
        )}
      </Loaded>
    </Panel>
  );
}
