import { answer, api, type Schemas } from '../../shared/api.js';
import { Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { Loaded, Time } from '../../shared/states.js';
import { Table } from '../../shared/table.js';
import { report } from '../../shared/toasts.js';

type Session = Schemas['Session'];

/** Lists the sessions of the account. The user can end the other sessions, and ends this one by signing out. */
export function Sessions() {
  const query = useQuery('sessions', () => answer(api.GET('/v1/auth/sessions')));
  const end = async ({ id }: Session) => {
    await report(
      answer(api.DELETE('/v1/auth/sessions/{session_id}', { params: { path: { session_id: id } } })),
      'The session has ended.',
    );
    await query.reload();
  };
  return (
    <Panel title="Sessions">
      <Loaded query={query} what="your sessions">
        {({ sessions }) => (
          <Table
            label="Sessions"
            rows={sessions}
            rowKey={({ id }) => id}
            columns={[
              { title: 'Signed in', cell: ({ created_at }) => <Time at={created_at} /> },
              { title: 'Last use', cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never') },
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
