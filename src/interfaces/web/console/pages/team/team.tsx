import { useState } from 'preact/hooks';
import { can, user as ownUser } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { Panel } from '../../shared/frame.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { type Query, useQuery } from '../../shared/query.js';
import { SearchableTable } from '../../shared/searchable-table.js';
import { Loaded, Time } from '../../shared/states.js';
import { report } from '../../shared/toasts.js';
import { InviteDialog, Invites } from './invites.js';
import { ROLES, type Role } from './roles.js';
import { TeamFrame } from './team-frame.js';

type User = Schemas['User'];
export function Team() {
  const [inviting, setInviting] = useState(false);
  const members = useQuery('team', () => answer(api.GET('/v1/auth/users')));
  const invites = useQuery('invites', () => answer(api.GET('/v1/auth/invites')));
  const invite = can('manage_team') && (
    <button type="button" class="button primary" onClick={() => setInviting(true)}>
      <Icon name="plus" /> Invite
    </button>
  );
  return (
    <TeamFrame actions={invite}>
      <Panel title="Members">
        <Loaded query={members} what="the members">
          {({ users }) => <Members users={users} query={members} />}
        </Loaded>
      </Panel>
      <Invites query={invites} />
      {inviting && <InviteDialog onClose={() => setInviting(false)} onCreated={() => void invites.reload()} />}
    </TeamFrame>
  );
}

function Members({ users, query }: { users: readonly User[]; query: Query<Schemas['Roster']> }) {
  return (
    <SearchableTable
      label="Members"
      name="q"
      of="members"
      textOf={({ name, email }) => `${name} ${email}`}
      rows={users}
      rowKey={({ id }) => id}
      columns={[
        {
          title: 'Name',
          sortBy: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              {name} {id === ownUser.value?.id && <span class="badge">you</span>}
            </>
          ),
        },
        { title: 'E-mail', sortBy: ({ email }) => email, cell: ({ email }) => email, minor: true },
        { title: 'Role', sortBy: ({ role }) => role, cell: (user) => <RoleChoice user={user} query={query} /> },
        { title: 'Verified', cell: ({ email_verified }) => (email_verified ? 'yes' : 'not yet'), minor: true },
        {
          title: 'Since',
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_at }) => <Time at={created_at} />,
          minor: true,
        },
        ...(can('manage_team')
          ? [{ title: 'Actions', acts: true, cell: (user: User) => <Remove user={user} query={query} /> }]
          : []),
      ]}
    />
  );
}

function RoleChoice({ user, query }: { user: User; query: Query<Schemas['Roster']> }) {
  if (!can('manage_team')) return <>{user.role}</>;
  const change = async (role: Role) => {
    const path = { user_id: user.id };
    await report(
      answer(api.PATCH('/v1/auth/users/{user_id}/role', { params: { path }, body: { role } })),
      `${user.name} is ${role} now.`,
    );
    await query.reload();
  };
  return (
    <select
      aria-label={`Role of ${user.name}`}
      value={user.role}
      onChange={(event) => void change(event.currentTarget.value as Role)}
    >
      {ROLES.map(([role, words]) => (
        <option key={role} value={role} selected={role === user.role}>
          {words}
        </option>
      ))}
    </select>
  );
}

function Remove({ user, query }: { user: User; query: Query<Schemas['Roster']> }) {
  const remove = async () => {
    const text = `${user.email} loses access at once, with all sessions and API keys. Projects of the team stay.`;
    if (!(await confirmAct({ title: `Remove ${user.name}?`, text, act: 'Remove' }))) return;
    await report(
      answer(api.DELETE('/v1/auth/users/{user_id}', { params: { path: { user_id: user.id } } })),
      `${user.name} is removed.`,
    );
    await query.reload();
  };
  if (user.id === ownUser.value?.id) return null;
  return <IconButton icon="trash" label={`Remove ${user.name}`} onClick={remove} />;
}
