import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { usePaged, useQuery } from '../../shared/query.js';
import { query as place, setQuery } from '../../shared/router.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { More, Table } from '../../shared/table.js';
import { TeamFrame } from './team-frame.js';

type Entry = Schemas['AuditEntry'];

type Action = Entry['action'];
/** All actions. The compiler reports a missing one. */
const ACTIONS = Object.keys({
  'account.registered': 0,
  'account.email_verified': 0,
  'account.changed': 0,
  'account.role_changed': 0,
  'account.password_changed': 0,
  'account.password_reset': 0,
  'account.sessions_revoked': 0,
  'account.removed': 0,
  'api_key.minted': 0,
  'api_key.revoked': 0,
  'session.revoked': 0,
  'invite.created': 0,
  'invite.revoked': 0,
  'project.deleted': 0,
  'dataset.frozen': 0,
  'dataset.deleted': 0,
  'model.registered': 0,
  'model.deleted': 0,
  'model_alias.moved': 0,
  'model_alias.deleted': 0,
  'runtime.connected': 0,
  'runtime.started': 0,
  'runtime.stopped': 0,
  'runtime.disconnected': 0,
  'deployment.created': 0,
  'deployment.deleted': 0,
  'alert_rule.created': 0,
  'alert_rule.changed': 0,
  'alert_rule.deleted': 0,
  'alert.acknowledged': 0,
  'webhook.created': 0,
  'webhook.deleted': 0,
  'webhook.alert_sent_again': 0,
  'database.migrated': 0,
  'database.backed_up': 0,
  'database.restored': 0,
} satisfies Record<Action, 0>) as Action[];

export function Audit() {
  const action = ACTIONS.find((one) => one === place.value.get('action')) ?? null;
  const actor = place.value.get('actor');
  const members = useQuery('team', () => answer(api.GET('/v1/auth/users')));
  const trail = usePaged(`audit ${action} ${actor}`, async (cursor) => {
    const query = { ...(action && { action }), ...(actor && { actor }), ...(cursor && { cursor }) };
    const { entries, next_cursor } = await answer(api.GET('/v1/audit', { params: { query } }));
    return { items: entries, next: next_cursor };
  });
  const people = (members.data?.users ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <TeamFrame>
      <Panel title="Audit trail">
        <div class="columns">
          <SelectField
            label="Action"
            value={action ?? ''}
            options={[['', 'Every action'], ...ACTIONS.map((one) => [one, wordsOf(one)] as const)]}
            onChange={(event) => setQuery({ action: event.currentTarget.value })}
          />
          <SelectField
            label="Who"
            value={actor ?? ''}
            options={[['', 'Everybody'], ...people]}
            onChange={(event) => setQuery({ actor: event.currentTarget.value })}
          />
        </div>
        <Loaded query={trail} what="the audit trail">
          {(entries) =>
            entries.length === 0 ? (
              <Empty icon="search" title="Nothing of this kind has happened" />
            ) : (
              <Table
                label="Audit trail"
                rows={entries}
                rowKey={({ id }) => id}
                columns={[
                  {
                    title: 'Who',
                    cell: ({ actor: by, created_at }) => (
                      <>
                        {by.name ?? wordsOf(by.kind)}
                        <p class="hint">
                          <Time at={created_at} />
                        </p>
                      </>
                    ),
                  },
                  { title: 'Action', cell: ({ action: done }) => wordsOf(done) },
                  { title: 'Object', long: true, cell: ({ object }) => object.name ?? object.id },
                  { title: 'Details', cell: ({ details }) => detailsOf(details), minor: true, long: true },
                ]}
              />
            )
          }
        </Loaded>
        <More query={trail} />
      </Panel>
    </TeamFrame>
  );
}

const wordsOf = (name: string) => name.replaceAll(/[._]/g, ' ');

const detailsOf = (details: Entry['details']) =>
  Object.entries(details)
    .map(([name, value]) => `${wordsOf(name)}: ${value}`)
    .join(', ');
