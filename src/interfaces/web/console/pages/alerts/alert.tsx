import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { formatDuration } from '../../shared/format.js';
import { Frame, Panel } from '../../shared/frame.js';
import { usePeople } from '../../shared/people.js';
import { useQuery } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { Loaded, State, Time } from '../../shared/states.js';
import { AcknowledgeDialog } from './acknowledge.js';

const EVERY_MS = 10_000;

export function AlertView({ parameters: { alert_id = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const [acknowledging, setAcknowledging] = useState(false);
  const found = useQuery(
    `alert ${alert_id}`,
    () => answer(api.GET('/v1/alerts/{alert_id}', { params: { path: { alert_id } } })),
    { everyMs: (data) => (data?.status === 'acked' ? null : EVERY_MS) },
  );
  const nameOf = usePeople();
  const alert = found.data;
  return (
    <Frame
      title={alert?.title ?? 'Alert'}
      above={[{ title: 'Alerts', href: link('/alerts') }]}
      about={
        alert && (
          <p class="alerts-facts">
            <State of={alert.severity} /> <State of={alert.status} /> <Time at={alert.created_at} />
          </p>
        )
      }
      actions={
        alert?.status === 'firing' &&
        can('manage_monitoring') && (
          <button type="button" class="button primary" onClick={() => setAcknowledging(true)}>
            Acknowledge
          </button>
        )
      }
    >
      <Loaded query={found} what="the alert">
        {({ message, rule_id, rule_name, job_id, acked_at, acked_by, note }) => (
          <>
            <p>{message}</p>
            <div class="columns">
              <Cause job={job_id} rule={{ id: rule_id, name: rule_name }} />
              <Panel title="Acknowledgement">
                {acked_at === null ? (
                  <p class="hint">Nobody has acknowledged it yet.</p>
                ) : (
                  <dl class="facts">
                    <dt>By</dt>
                    <dd>{acked_by === 'master' ? 'the master key' : nameOf(acked_by ?? '')}</dd>
                    <dt>When</dt>
                    <dd>
                      <Time at={acked_at} />
                    </dd>
                    <dt>Note</dt>
                    <dd class="alerts-note">{note ?? 'none'}</dd>
                  </dl>
                )}
              </Panel>
            </div>
          </>
        )}
      </Loaded>
      {acknowledging && alert && (
        <AcknowledgeDialog
          alerts={[alert]}
          onAcked={([acked]) => acked && found.set(acked)}
          onClose={() => setAcknowledging(false)}
        />
      )}
    </Frame>
  );
}

/** Shows the rule and the job that met its condition. Shows only the id of a deleted job or another team's job. */
function Cause({ job: job_id, rule }: { job: string; rule: { id: string; name: string } }) {
  const job = useQuery(`job ${job_id}`, () =>
    answer(api.GET('/v1/jobs/{job_id}', { params: { path: { job_id } } })),
  ).data;
  return (
    <Panel title="Cause">
      <dl class="facts">
        <dt>Rule</dt>
        <dd>
          <a href={link('/alerts/rules', { rule: rule.id })}>{rule.name}</a>
        </dd>
        <dt>Job</dt>
        <dd>
          <a href={link(`/jobs/${job_id}`)}>{job?.name ?? job_id}</a>
        </dd>
        {job && (
          <>
            <dt>Kind</dt>
            <dd>{job.kind}</dd>
            <dt>Status</dt>
            <dd>
              <State of={job.status} />
            </dd>
            <dt>Duration</dt>
            <dd>{job.duration === null ? 'never started' : formatDuration(job.duration)}</dd>
          </>
        )}
        {job?.error && (
          <>
            <dt>Error</dt>
            <dd>{job.error}</dd>
          </>
        )}
      </dl>
    </Panel>
  );
}
