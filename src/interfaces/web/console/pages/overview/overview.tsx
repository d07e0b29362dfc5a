import { status, user } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { Frame, Panel } from '../../shared/frame.js';
import type { Page } from '../../shared/page.js';
import { useQuery } from '../../shared/query.js';
import { Empty, Loaded, State } from '../../shared/states.js';

const EVERY_MS = 10_000;

/** Shows whether all is well. */
function Overview() {
  const now = useQuery('status', () => answer(api.GET('/v1/status')), { everyMs: EVERY_MS });
  return (
    <Frame
      title="Overview"
      about={`Signed in as ${user.value?.name ?? 'the master key'}, ${status.value?.caller.role}.`}
    >
      <Panel title="Runtimes">
        <Loaded query={now} what="the runtimes">
          {({ runtimes }) =>
            runtimes.length === 0 ? (
              <Empty icon="playground" title="No model is connected to a project yet" />
            ) : (
              <ul>
                {runtimes.map(({ project_id, project_name, state }) => (
                  <li key={project_id}>
                    {project_name} <State of={state} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
    </Frame>
  );
}

export const overview: Page = {
  path: '/',
  title: 'Overview',
  view: Overview,
  menu: { group: 'Home', icon: 'overview', key: 'o' },
};
