import { type Signal, useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { plural } from '../../shared/format.js';
import { Choices, Frame, Panel } from '../../shared/frame.js';
import { usePaged } from '../../shared/query.js';
import { link, query } from '../../shared/router.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import { type Column, More, Table } from '../../shared/table.js';
import { AcknowledgeDialog } from './acknowledge.js';
import { AlertTabs } from './alert-tabs.js';

type Alert = Schemas['Alert'];

const EVERY_MS = 10_000;
const PAGE = 100;
const STATUSES = ['firing', 'acked'] as const;

const COLUMNS: readonly Column<Alert>[] = [
  { title: 'Severity', cell: ({ severity }) => <State of={severity} /> },
  { title: 'Alert', cell: ({ id, title }) => <a href={link(`/alerts/${id}`)}>{title}</a> },
  {
    title: 'Rule',
    minor: true,
    cell: ({ rule_id, rule_name }) => <a href={link('/alerts/rules', { rule: rule_id })}>{rule_name}</a>,
  },
  { title: 'Fired', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Status', minor: true, cell: ({ status }) => <State of={status} /> },
];

export function Alerts() {
  const status = STATUSES.find((one) => one === query.value.get('status'));
  const list = usePaged<Alert>(
    `alerts ${status}`,
    async (cursor) => {
      const params = { query: { limit: PAGE, status, cursor: cursor ?? undefined } };
      const { alerts, next_cursor } = await answer(api.GET('/v1/alerts', { params }));
      return { items: alerts, next: next_cursor };
    },
    { everyMs: EVERY_MS },
  );
  const [acknowledging, setAcknowledging] = useState<readonly Alert[]>([]);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const firing = list.data?.filter((alert) => alert.status === 'firing') ?? [];
  const manages = can('manage_monitoring') && firing.length > 0;
  return (
    <Frame title="Alerts" about="Rules fire alerts when jobs fail or run for too long." tabs={<AlertTabs />}>
      <Choices
        label="Status"
        name="status"
        options={[
          ['', 'All'],
          ['firing', 'Firing'],
          ['acked', 'Acknowledged'],
        ]}
      />
      <Loaded query={list} what="the alerts">
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="alerts" title={status === 'firing' ? 'Nothing is firing' : 'There are no alerts'}>
              <p>
                <a href={link('/alerts/rules')}>The rules</a> say what fires an alert.
              </p>
            </Empty>
          ) : (
            <Panel
              title={list.more ? `The newest ${plural(rows.length, 'alert')}` : plural(rows.length, 'alert')}
              actions={manages && <Chosen firing={firing} chosen={chosen} onAcknowledge={setAcknowledging} />}
            >
              <div class="stack">
                <Table
                  label="Alerts"
                  columns={
                    manages
                      ? [{ title: 'Choose', cell: (one) => <Pick alert={one} chosen={chosen} /> }, ...COLUMNS]
                      : COLUMNS
                  }
                  rows={rows}
                  rowKey={({ id }) => id}
                />
                <More query={list} />
              </div>
            </Panel>
          )
        }
      </Loaded>
      {acknowledging.length > 0 && (
        <AcknowledgeDialog
          alerts={acknowledging}
          onAcked={() => void list.reload()}
          onClose={() => setAcknowledging([])}
        />
      )}
    </Frame>
  );
}

/** The ids of the chosen alerts: a signal, so that a choice redraws only the checkboxes and not the list. */
type Choice = Signal<ReadonlySet<string>>;

function Pick({ alert: { id, title, status }, chosen }: { alert: Alert; chosen: Choice }) {
  if (status !== 'firing') return null;
  const pick = (on: boolean) => {
    const next = new Set(chosen.value);
    if (on) next.add(id);
    else next.delete(id);
    chosen.value = next;
  };
  return (
    <label class="alerts-pick">
      <input
        type="checkbox"
        aria-label={`Choose ${title}`}
        checked={chosen.value.has(id)}
        onChange={({ currentTarget }) => pick(currentTarget.checked)}
      />
    </label>
  );
}

function Chosen(props: {
  firing: readonly Alert[];
  chosen: Choice;
  onAcknowledge: (alerts: readonly Alert[]) => void;
}) {
  const { firing, chosen, onAcknowledge } = props;
  const picked = firing.filter(({ id }) => chosen.value.has(id));
  return (
    <>
      <label class="choice alerts-all">
        <input
          type="checkbox"
          checked={picked.length === firing.length}
          onChange={({ currentTarget }) => {
            chosen.value = new Set(currentTarget.checked ? firing.map(({ id }) => id) : []);
          }}
        />
        Choose all that fire
      </label>
      <button type="button" class="button primary" disabled={picked.length === 0} onClick={() => onAcknowledge(picked)}>
        {picked.length > 0 ? `Acknowledge ${picked.length}` : 'Acknowledge'}
      </button>
    </>
  );
}
