import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { modelName } from '../../shared/models.js';
import { usePaged, useQuery } from '../../shared/query.js';
import { link, query as place, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
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
  'api_key.changed': 0,
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
  'call.deleted': 0,
  'runtime.connected': 0,
  'runtime.started': 0,
  'runtime.stopped': 0,
  'runtime.disconnected': 0,
  'deployment.created': 0,
  'deployment.deleted': 0,
  'budget.created': 0,
  'budget.changed': 0,
  'budget.deleted': 0,
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

/** Actors that are no accounts. */
const OTHER_ACTORS = [
  ['master_key', 'master key'],
  ['command_line', 'command line'],
] as const;

export function Audit() {
  const action = ACTIONS.find((one) => one === place.value.get('action')) ?? null;
  const actor = place.value.get('actor');
  const q = searchText();
  const members = useQuery('team', () => answer(api.GET('/v1/auth/users')));
  const trail = usePaged(`audit ${JSON.stringify({ action, actor, q })}`, async (cursor) => {
    const query = { ...(action && { action }), ...(actor && { actor }), q, ...(cursor && { cursor }) };
    const { entries, next_cursor } = await answer(api.GET('/v1/audit', { params: { query } }));
    return { items: entries, next: next_cursor };
  });
  const projects = useQuery(can('read_workspace') ? 'projects' : null, () => answer(api.GET('/v1/projects')));
  const people = (members.data?.users ?? []).map(({ id, name }) => [id, name] as const);
  const objects = (projects.data?.projects ?? []).flatMap(({ id, name, models }) => [
    [id, name] as const,
    ...models.map((model) => [model.id, modelName(model)] as const),
  ]);
  const nameOf = new Map([...people, ...objects]);
  return (
    <TeamFrame>
      <Panel title="Audit trail">
        <div class="filters">
          <SearchField placeholder="A person or an object" />
          <SelectField
            label="Action"
            value={action ?? ''}
            options={[['', 'Every action'], ...ACTIONS.map((one) => [one, wordsOf(one)] as const)]}
            onChange={(event) => setQuery({ action: event.currentTarget.value })}
          />
          <SelectField
            label="Who"
            value={actor ?? ''}
            options={[['', 'Everybody'], ...people, ...OTHER_ACTORS]}
            onChange={(event) => setQuery({ actor: event.currentTarget.value })}
          />
        </div>
        <Loaded query={trail} what="the audit trail">
          {(entries) =>
            entries.length === 0 ? (
              <Empty icon="search" title="Nothing of this kind has happened">
                {(action || actor || q) && (
                  <button type="button" class="button" onClick={() => setQuery({ action: null, actor: null, q: null })}>
                    Show all entries
                  </button>
                )}
              </Empty>
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
                  { title: 'Object', long: true, cell: (entry) => <AuditedObject entry={entry} nameOf={nameOf} /> },
                  { title: 'Details', cell: ({ details }) => detailsOf(details, nameOf), minor: true, long: true },
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

type Names = ReadonlyMap<string, string>;

/** Names objects instead of their ids, as far as they are known. */
const detailsOf = (details: Entry['details'], nameOf: Names) =>
  Object.entries(details)
    .map(([name, value]) => {
      const known = nameOf.get(String(value));
      return known === undefined ? `${wordsOf(name)}: ${value}` : `${wordsOf(name.replace(/_id$/, ''))}: ${known}`;
    })
    .join(', ');

/** Shows the name of the object at that time, or else its kind and the end of its id. Links to it unless it is gone. */
function AuditedObject({ entry: { action, object, details }, nameOf }: { entry: Entry; nameOf: Names }) {
  const name = object.name ?? nameOf.get(object.id);
  const words = name ?? `${wordsOf(object.kind)} …${object.id.slice(-6)}`;
  const href = /\.(deleted|removed)$/.test(action) && object.kind !== 'model_alias' ? null : hrefOf(object, details);
  return (
    <>
      {href ? <a href={href}>{words}</a> : <span title={object.id}>{words}</span>}
      {name && <p class="hint">{wordsOf(object.kind)}</p>}
    </>
  );
}

function hrefOf({ kind, id }: Entry['object'], { project_id: project }: Entry['details']): string | null {
  if (kind === 'project' || kind === 'runtime') return link(`/projects/${id}`);
  if (kind === 'model_alias') return link(`/projects/${id}/models`);
  if (kind === 'account') return link('/team');
  if (kind === 'webhook') return link('/team/webhooks');
  if (kind === 'alert_rule') return link('/alerts/rules', { rule: id });
  if (kind === 'alert' || kind === 'deployment') return link(`/${kind}s/${id}`);
  if ((kind === 'dataset' || kind === 'model') && project) return link(`/projects/${project}/${kind}s/${id}`);
  return null;
}
