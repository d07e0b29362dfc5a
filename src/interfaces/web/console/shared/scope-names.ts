import { can, status, user } from './account.js';
import { answer, api, type Schemas } from './api.js';
import { modelName } from './models.js';
import { usePeople } from './people.js';
import { useQuery } from './query.js';

const ending = (id: string): string => `…${id.slice(-6)}`;

type Key = Schemas['ApiKey'];

/** Returns the caller's own API keys. */
export function useOwnKeys(): readonly Key[] {
  const params = { query: { limit: 100 } };
  const keys = useQuery(can('own_account') ? 'own keys' : null, () => answer(api.GET('/v1/keys', { params })));
  return keys.data?.keys ?? [];
}

export const keyName = ({ name, hint }: Pick<Key, 'name' | 'hint'>): string => (name ? `${name} (${hint})` : hint);

/** Returns the name of a project of the team. Those of other teams have none. */
export const projectName = (id: string): string =>
  status.value?.runtimes.find(({ project_id }) => project_id === id)?.project_name ?? `project ${ending(id)}`;

/** Returns a function that returns the name of what a budget limits. */
export function useScopeNames(): (scope: Schemas['Budget']['scope'], id: string) => string {
  const person = usePeople();
  const keys = useOwnKeys();
  return (scope, id) => {
    if (scope === 'team') return 'The whole team';
    if (scope === 'project') return projectName(id);
    if (scope === 'account') return id === user.value?.id ? 'You' : person(id);
    const own = keys.find((key) => key.id === id);
    return own ? `Key ${keyName(own)}` : `key ${ending(id)}`;
  };
}

type Group = 'project' | 'model' | 'account' | 'key';

const NONE: Readonly<Record<Group, string>> = {
  project: 'No project',
  model: 'No model, such as predictions',
  account: 'Nobody',
  key: 'By session',
};

/** Returns a function that returns the name of a group of calls. */
export function useGroupNames(by: Group): (id: string | null) => string {
  const nameOf = useScopeNames();
  const isWanted = by === 'model' && can('read_workspace');
  const projects = useQuery(isWanted ? 'projects' : null, () => answer(api.GET('/v1/projects')));
  const models = projects.data?.projects.flatMap((project) => project.models) ?? [];
  return (id) => {
    if (id === null) return NONE[by];
    if (id === 'master') return 'Master key';
    if (by !== 'model') return nameOf(by, id);
    const model = models.find((one) => one.id === id);
    return model ? modelName(model) : `model ${ending(id)}`;
  };
}
