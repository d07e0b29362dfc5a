import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { useAction } from '../../shared/form.js';
import { Frame, Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { link, navigate } from '../../shared/router.js';
import { ErrorNote, Loaded, State, Time } from '../../shared/states.js';
import { toast } from '../../shared/toasts.js';
import { TryPrediction } from './prediction.js';

type Deployment = Schemas['Deployment'];

const EVERY_MS = 10_000;
const EVERY_MS_WHILE_STARTING = 2_500;
const LINES = 100;

export function DeploymentView({
  parameters: { deployment_id = '' },
}: {
  parameters: Readonly<Record<string, string>>;
}) {
  const params = { path: { deployment_id } };
  const found = useQuery(
    `deployment ${deployment_id}`,
    () => answer(api.GET('/v1/deployments/{deployment_id}', { params })),
    { everyMs: (data) => (data?.status === 'starting' ? EVERY_MS_WHILE_STARTING : EVERY_MS) },
  );
  const name = found.data?.name ?? 'Deployment';
  const remove = useAction(async () => {
    const sure = await confirmAct({
      title: `Delete ${name}?`,
      text: 'Its process ends, and programs that call it are refused. The model file stays.',
      act: 'Delete',
    });
    if (!sure) return;
    await answer(api.DELETE('/v1/deployments/{deployment_id}', { params }));
    toast(`${name} is deleted.`);
    navigate(link('/deployments'));
  });
  return (
    <Frame
      title={name}
      above={[{ title: 'Deployments', href: link('/deployments') }]}
      about={found.data && <Summary deployment={found.data} />}
      actions={
        can('manage_monitoring') &&
        (found.data || (found.error && found.error.status !== 404)) && (
          <button type="button" class="button danger" disabled={remove.busy} onClick={() => void remove.run()}>
            <Icon name="trash" /> {remove.busy ? 'Deleting …' : 'Delete'}
          </button>
        )
      }
    >
      {remove.error && <ErrorNote error={remove.error} />}
      <Loaded query={found} what="the deployment">
        {(deployment) => (
          <>
            <TryPrediction deployment={deployment} />
            <div class="columns">
              <Facts deployment={deployment} />
              <Output id={deployment_id} remote={deployment.kind === 'remote'} />
            </div>
          </>
        )}
      </Loaded>
    </Frame>
  );
}

const Summary = ({ deployment: { status, reason } }: { deployment: Deployment }) => (
  <p>
    <State of={status} />
    {reason && `: ${reason}`}
  </p>
);

function Facts({ deployment }: { deployment: Deployment }) {
  const { kind, model_path, model_name, model_version, endpoint, key_setting, url, restarts, max_batch, max_delay_ms } =
    deployment;
  const facts: [string, string | null][] =
    kind === 'local'
      ? [
          ['Model file', model_path],
          ['Address', url],
          ['Batches', max_batch === null ? 'off' : `up to ${max_batch} requests, within ${max_delay_ms} ms`],
          ['Restarts', String(restarts)],
        ]
      : [
          ['Engine', endpoint],
          ['Model', model_name],
          ['Version', model_version ?? 'chosen by the engine'],
          ['Key', key_setting ?? 'none'],
        ];
  return (
    <Panel title="Deployment">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
        {deployment.prices && (
          <>
            <dt>Prices</dt>
            <dd>{pricesOf(deployment.prices)}</dd>
          </>
        )}
        <dt>Instance</dt>
        <dd>{deployment.instance}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={deployment.created_at} />
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{deployment.id}</code>
        </dd>
        <dt>Calls</dt>
        <dd>
          <a href={link('/jobs', { kind: 'prediction' })}>The newest predictions of all deployments</a>
        </dd>
      </dl>
    </Panel>
  );
}

const pricesOf = ({ per_call, per_second }: NonNullable<Deployment['prices']>): string =>
  [
    ...(per_call === null ? [] : [`${per_call} for each call`]),
    ...(per_second === null ? [] : [`${per_second} for each second`]),
  ].join(', ');

function Output({ id, remote }: { id: string; remote: boolean }) {
  const params = { path: { deployment_id: id }, query: { tail: LINES } };
  const output = useQuery(
    remote ? null : `output ${id}`,
    () => answer(api.GET('/v1/deployments/{deployment_id}/logs', { params })),
    { everyMs: EVERY_MS },
  );
  if (remote) {
    return (
      <Panel title="Output">
        <p class="hint">The engine keeps its own output.</p>
      </Panel>
    );
  }
  return (
    <Panel title="Output">
      <Loaded query={output} what="the output">
        {({ lines }) =>
          lines.length === 0 ? (
            <p class="hint">The process has written nothing since the service started.</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element.
            <section class="deployments-output" tabIndex={0} aria-label="Newest lines of the output">
              <pre>{lines.join('\n')}</pre>
            </section>
          )
        }
      </Loaded>
    </Panel>
  );
}
