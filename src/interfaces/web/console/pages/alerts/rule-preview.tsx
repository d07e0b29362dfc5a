import { useEffect, useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatTime, plural } from '../../shared/format.js';
import { useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Loaded, Time } from '../../shared/states.js';
import { binsOf, fieldsOf, isComplete, type RuleDraft, spikeOf } from './rule.js';

const SETTLED_MS = 500;
const BINS = 60;
const NEWEST = 3;
const DAY_S = 86_400;

const SPANS = [
  ['1', 'Last day'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
] as const;

/** Returns the value when it has stayed the same for SETTLED_MS. Until then, returns the earlier value. */
function useSettled<T>(value: T): T {
  const [settled, settle] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Shows when the rule in the form would have fired for past jobs. */
export function RulePreview({ draft }: { draft: RuleDraft }) {
  const days = SPANS.find(([value]) => value === query.value.get('days'))?.[0] ?? '7';
  const [now] = useState(() => Date.now() / 1000);
  const since = now - Number(days) * DAY_S;
  const { name: _, ...rule } = useSettled(draft);
  const body = { ...fieldsOf({ ...rule, name: 'Preview' }), since };
  const preview = useQuery(isComplete(rule) ? `preview ${JSON.stringify(body)}` : null, () =>
    answer(api.POST('/v1/alerts/rules/preview', { body })),
  );
  return (
    <section class="alerts-preview stack" aria-label="Preview">
      <SelectField
        label="Preview over"
        options={SPANS}
        value={days}
        onInput={({ currentTarget }) => setQuery({ days: currentTarget.value === '7' ? null : currentTarget.value })}
      />
      {isComplete(rule) ? (
        <Loaded query={preview} what="the preview">
          {(outcome) => <Outcome outcome={outcome} since={since} until={now} />}
        </Loaded>
      ) : (
        <p class="hint">The preview appears once all fields are filled, and the threshold is a number above 0.</p>
      )}
    </section>
  );
}

function Outcome(props: { outcome: Schemas['AlertRuleOutcome']; since: number; until: number }) {
  const { outcome, since, until } = props;
  const { alerts, jobs_considered } = outcome;
  const bins = binsOf(
    alerts.map(({ created_at }) => created_at),
    since,
    until,
    BINS,
  );
  const spike = spikeOf(bins, since, until);
  const words = `It would have fired ${alerts.length === 1 ? 'once' : `${alerts.length} times`} over ${plural(jobs_considered, 'finished job')}.`;
  const most = spike && spike.count > 1 ? ` Most often, ${spike.count} times, from ${formatTime(spike.at)} on.` : '';
  const newest = [...alerts].sort((one, other) => other.created_at - one.created_at).slice(0, NEWEST);
  return (
    <>
      <p role="status">
        {alerts.length > 0 ? words : `It would not have fired over ${plural(jobs_considered, 'finished job')}.`}
      </p>
      <figure class="alerts-timeline">
        <svg viewBox={`0 0 ${BINS * 4} 48`} preserveAspectRatio="none" role="img" aria-label={words + most}>
          <line x1="0" x2={BINS * 4} y1="47.5" y2="47.5" />
          {bins.map((count, at) => {
            const height = spike && count > 0 ? 6 + (count / spike.count) * 40 : 0;
            return height > 0 && <rect key={at} x={at * 4} width="3" y={47 - height} height={height} />;
          })}
        </svg>
        <figcaption>
          <span>{formatTime(since)}</span>
          <span>now</span>
        </figcaption>
      </figure>
      {newest.length > 0 && (
        <ul class="alerts-newest">
          {newest.map(({ job_id, title, created_at }) => (
            <li key={job_id}>
              <a href={link(`/jobs/${job_id}`)}>{title}</a> <Time at={created_at} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
