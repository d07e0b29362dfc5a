import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, baseUrl, type Schemas } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { Dialog } from '../../shared/dialog.js';
import { Field, FormError, fieldError, SelectField, SubmitButton, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import type { Query } from '../../shared/query.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { Table } from '../../shared/table.js';
import { toast, toastError } from '../../shared/toasts.js';
import { ROLES, type Role } from './roles.js';

type Invite = Schemas['Invite'];

const DAY_S = 86_400;
const LIFETIMES = [
  [String(DAY_S), '1 day'],
  [String(7 * DAY_S), '7 days'],
  [String(30 * DAY_S), '30 days'],
] as const;

const linkOf = (token: string) => `${baseUrl}/auth?invite=${encodeURIComponent(token)}`;

/** Lists the invites that nobody has accepted yet, each with its link for those who may hand it out. */
export function Invites({ query }: { query: Query<Schemas['Invites']> }) {
  const revoke = async ({ id }: Invite) => {
    try {
      await answer(api.DELETE('/v1/auth/invites/{invite_id}', { params: { path: { invite_id: id } } }));
      toast('The invite is revoked. Its link no longer works.');
    } catch (reason) {
      toastError(reason);
    }
    await query.reload();
  };
  return (
    <Panel title="Pending invites">
      <Loaded query={query} what="the invites">
        {({ invites }) =>
          invites.length === 0 ? (
            <Empty icon="team" title="No invite waits" />
          ) : (
            <Table
              label="Pending invites"
              rows={invites}
              rowKey={({ id }) => id}
              columns={[
                { title: 'For', long: true, cell: ({ email }) => email ?? 'anybody with the link' },
                { title: 'Role', cell: ({ role }) => role, minor: true },
                { title: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} />, minor: true },
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
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [lifetime, setLifetime] = useState(String(7 * DAY_S));
  const [created, setCreated] = useState<Invite>();
  const create = useAction(async () => {
    const body = { role, expires_in: Number(lifetime), email: email.trim() || null };
    setCreated(await answer(api.POST('/v1/auth/invites', { body })));
    onCreated();
  });
  if (created?.token) {
    return (
      <Dialog title="The invite is ready" onClose={onClose}>
        <p>Send this link to {created.email ?? 'the person you invite'}. It works once.</p>
        <pre>{linkOf(created.token)}</pre>
        <div class="actions">
          <CopyButton text={linkOf(created.token)} label="Copy link" />
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite somebody to the team" onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
      >
        <FormError error={create.error} fields={['email', 'role', 'expires_in']} />
        <Field
          label="E-mail"
          hint="Optional: then only this address can accept it."
          type="email"
          autocomplete="off"
          value={email}
          error={fieldError(create.error, 'email')}
          onInput={(event) => setEmail(event.currentTarget.value)}
        />
        <SelectField
          label="Role"
          value={role}
          options={ROLES}
          hint="Members chat and read. Developers also change the workspace and monitoring. Admins also manage the team."
          error={fieldError(create.error, 'role')}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        />
        <SelectField
          label="The link works for"
          value={lifetime}
          options={LIFETIMES}
          error={fieldError(create.error, 'expires_in')}
          onChange={(event) => setLifetime(event.currentTarget.value)}
        />
        <div class="actions">
          <SubmitButton busy={create.busy}>Create the invite</SubmitButton>
        </div>
      </form>
    </Dialog>
  );
}
