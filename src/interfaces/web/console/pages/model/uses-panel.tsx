import { useState } from 'preact/hooks';
import { can, isOperator } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { formatShare } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { fieldOf, isObject } from '../../shared/spec/fields.js';
import { JobState, Loaded, Loading, QueryError, State, Time } from '../../shared/states.js';
import { AliasDialog } from '../models/aliases-panel.js';
import { useAliases } from '../models/models.js';

type Model = Schemas['Model'];

const MOST_JOBS = 100;
const SHOWN = 10;

export function UsesPanel({ model, project }: { model: Model; project: Schemas['Project'] | undefined }) {
  const { id, project_id, state, spec } = model;
  const [naming, setNaming] = useState(false);
  const aliases = useAliases(project_id);
  const jobs = useQuery(can('read_jobs') && state === 'registered' ? `evaluations ${project_id}` : null, () => {
    const query = { kind: 'evaluation', project_id, limit: MOST_JOBS } as const;
    return answer(api.GET('/v1/jobs', { params: { query } }));
  });
  const deployments = useQuery(isOperator() && typeof spec.path === 'string' ? 'deployments' : null, () =>
    answer(api.GET('/v1/deployments')),
  );
  const others = [jobs, deployments];
  const evaluations = (jobs.data?.jobs ?? []).filter(({ model_id }) => model_id === id);
  const serving = (deployments.data?.deployments ?? []).filter(
    ({ model_path: file }) => file === spec.path || file?.startsWith(`${spec.path}/`),
  );
  const isConnected = project?.runtime.model_id === id;
  return (
    <Panel
      title="Where it is used"
      actions={
        state === 'registered' &&
        can('edit_workspace') && (
          <button type="button" class="button small" onClick={() => setNaming(true)}>
            Set an alias
          </button>
        )
      }
    >
      <Loaded query={aliases} what="the aliases">
        {(listed) => {
          const named = listed.aliases.filter(({ model_id }) => model_id === id);
          const isUsed = named.length + evaluations.length + serving.length > 0 || isConnected;
          const isKnown = project && !others.some((one) => one.error || isAwaited(one));
          const looked = jobs.data?.next_cursor ? `, as far as the newest ${MOST_JOBS} evaluations tell` : '';
          if (!isUsed) return isKnown && <p class="hint">Nothing uses it{looked}.</p>;
          return (
            <ul class="model-uses">
              {named.map(({ alias }) => (
                <li key={alias}>
                  Alias <a href={link(`/projects/${project_id}/models`, { alias })}>{alias}</a>
                </li>
              ))}
              {isConnected && (
                <li>
                  <a href={link(`/projects/${project_id}`)}>Runtime</a> of the project{' '}
                  <State of={project.runtime.state} />
                </li>
              )}
              {evaluations.slice(0, SHOWN).map(({ id: job, status, created_at, result }) => (
                <li key={job}>
                  <a href={link(`/evaluations/${job}`)}>Evaluation</a> <Time at={created_at} />{' '}
                  <span class="model-uses-score">{accuracyOf(result) ?? <JobState of={status} />}</span>
                </li>
              ))}
              {evaluations.length > SHOWN && (
                <li>
                  <a href={link('/evaluations', { project: project_id })}>All evaluations of the project</a>
                </li>
              )}
              {serving.map(({ id: deployment, name, status }) => (
                <li key={deployment}>
                  Deployment <a href={link(`/deployments/${deployment}`)}>{name}</a> <State of={status} />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      {others.some(isAwaited) && <Loading what="what else uses it" bars={1} />}
      <QueryError query={jobs} />
      <QueryError query={deployments} />
      {naming && (
        <AliasDialog
          projectId={project_id}
          alias={null}
          models={[model]}
          aliases={aliases}
          onClose={() => setNaming(false)}
        />
      )}
    </Panel>
  );
}

const isAwaited = ({ data, loading }: Pick<Query<unknown>, 'data' | 'loading'>) => data === undefined && loading;

/** Returns the share of right answers of a succeeded evaluation, otherwise null. */
function accuracyOf(result: unknown): string | null {
  const accuracy = isObject(result) ? fieldOf(result, 'accuracy') : null;
  return typeof accuracy === 'number' ? formatShare(accuracy) : null;
}
