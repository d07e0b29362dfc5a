import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, baseUrl, type Schemas } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { Dialog, ShownOnce } from '../../shared/dialog.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import type { Query } from '../../shared/query.js';
import { SearchableTable } from '../../shared/searchable-table.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { report } from '../../shared/toasts.js';
import { ROLES, type Role } from './roles.js';

type Invite = Schemas['Invite'];

const DAY_S = 86_400;
const LIFETIMES = [
  [String(DAY_S), '1 day'],
  [String(7 * DAY_S), '7 days'],
  [String(30 * DAY_S), '30 days'],
] as const;

const linkOf = (token: string) => `${baseUrl}/auth?invite=${encodeURIComponent(token)}`;

/** Lists the pending invites. Callers who may share an invite also get its link. */
export function Invites({ query }: { query: Query<Schemas['Invites']> }) {
  const revoke = async ({ id }: Invite) => {
    await report(
      answer(api.DELETE('/v1/auth/invites/{invite_id}', { params: { path: { invite_id: id } } })),
      'The invite is revoked. Its link no longer works.',
    );
    await query.reload();
  };
  return (
    <Panel title="Pending invites">
      <Loaded query={query} what="the invites">
        {({ invites }) =>
          invites.length === 0 ? (
            <Empty icon="team" title="No invite waits" />
          ) : (
            <SearchableTable
              label="Pending invites"
              name="invite"
              of="invites"
              textOf={({ email, role }) => `${email ?? ''} ${role}`}
              rows={invites}
              rowKey={({ id }) => id}
              columns={[
                {
                  title: 'For',
                  long: true,
                  sortBy: ({ email }) => email,
                  cell: ({ email }) => email ?? 'anybody with the link',
                },
                { title: 'Role', sortBy: ({ role }) => role, cell: ({ role }) => role, minor: true },
                {
                  title: 'Ends',
                  sortBy: ({ expires_at }) => expires_at,
                  cell: ({ expires_at }) => <Time at={expires_at} />,
                  minor: true,
                },
                {
                  title: 'Actions',
                  acts: true,
                  cell: (invite) => (
                    <div class="actions">
                      {invite.token && <CopyButton text={linkOf(invite.token)} label="Copy link" />}
                      {can('manage_team') && (
                        <button type="button" class="button small danger" onClick={() => void revoke(invite)}>
                          Revoke
                        </button>
                      )}
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Creates an invite, then shows its link. */
export function InviteDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [values, setValues] = useState({ email: '', role: 'member' as Role, expires_in: String(7 * DAY_S) });
  const [created, setCreated] = useState<Invite>();
  const create = useForm(values, setValues, async () => {
    const { email, role, expires_in } = values;
    const body = { role, expires_in: Number(expires_in), email: email.trim() || null };
    setCreated(await answer(api.POST('/v1/auth/invites', { body })));
    onCreated();
  });
  if (created?.token) {
    return (
      <ShownOnce title="The invite is ready" text={linkOf(created.token)} copy="Copy link" onClose={onClose}>
        Send this link to {created.email ?? 'the person you invite'}. It works once.
      </ShownOnce>
    );
  }
  return (
    <Dialog title="Invite somebody to the team" onClose={onClose}>
      <Form act={create} submit="Create the invite" onCancel={onClose}>
        <Field
          label="E-mail"
          hint="Optional: then only this address can accept it."
          type="email"
          autocomplete="off"
          {...create.field('email')}
        />
        <SelectField
          label="Role"
          options={ROLES}
          hint="Members chat and read. Developers also change the workspace and monitoring. Admins also manage the team."
          {...create.field('role')}
        />
        <SelectField label="The link works for" options={LIFETIMES} {...create.field('expires_in')} />
      </Form>
    </Dialog>
  );
}
