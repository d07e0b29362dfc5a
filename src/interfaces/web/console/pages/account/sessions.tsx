import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { SearchableTable } from '../../shared/searchable-table.js';
import { Loaded, Time } from '../../shared/states.js';
import { report } from '../../shared/toasts.js';
import { browserName } from './browser-name.js';

type Session = Schemas['Session'];

/** Lists the sessions of the account. The user can end one or all others, and ends this one by signing out. */
export function Sessions() {
  const query = useQuery('sessions', () => answer(api.GET('/v1/auth/sessions')));
  const end = async ({ id }: Session) => {
    await report(
      answer(api.DELETE('/v1/auth/sessions/{session_id}', { params: { path: { session_id: id } } })),
      'The session has ended.',
    );
    await query.reload();
  };
  const endOthers = async () => {
    const text = 'Every other browser and program has to sign in again. Your API keys stay.';
    if (!(await confirmAct({ title: 'End all other sessions?', text, act: 'End all others' }))) return;
    await report(answer(api.POST('/v1/auth/sessions/end-others')), 'All other sessions have ended.');
    await query.reload();
  };
  const hasOthers = query.data?.sessions.some(({ current }) => !current);
  return (
    <Panel
      title="Sessions"
      actions={
        hasOthers && (
          <button type="button" class="button danger" onClick={() => void endOthers()}>
            End all others
          </button>
        )
      }
    >
      <Loaded query={query} what="your sessions">
        {({ sessions }) => (
          <SearchableTable
            label="Sessions"
            name="session"
            of="sessions"
            textOf={({ user_agent: agent, address }) => `${browserName(agent)} ${address ?? ''}`}
            rows={sessions}
            rowKey={({ id }) => id}
            columns={[
              {
                title: 'Browser',
                sortBy: ({ user_agent: agent }) => browserName(agent),
                cell: ({ user_agent: agent }) => <span title={agent ?? undefined}>{browserName(agent)}</span>,
              },
              {
                title: 'Address',
                sortBy: ({ address }) => address,
                cell: ({ address }) => address ?? 'unknown',
                long: true,
              },
              {
                title: 'Signed in',
                sortBy: ({ created_at }) => created_at,
                cell: ({ created_at }) => <Time at={created_at} />,
                minor: true,
              },
              {
                title: 'Last use',
                sortBy: ({ last_used_at }) => last_used_at,
                cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never'),
              },
              { title: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} />, minor: true },
              {
                title: 'Actions',
                acts: true,
                cell: (session) =>
                  session.current ? (
                    <span class="badge">this one</span>
                  ) : (
                    <button type="button" class="button small danger" onClick={() => void end(session)}>
                      End
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
