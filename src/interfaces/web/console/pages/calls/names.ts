import { user } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { modelName } from '../../shared/models.js';
import { usePeople } from '../../shared/people.js';
import { useQuery } from '../../shared/query.js';

/** The names of what calls mention. */
export interface Names {
  /** The ids and names of the models of the project. */
  readonly models: readonly (readonly [id: string, name: string])[];
  readonly model: (id: string) => string;
  readonly person: (id: string) => string;
}

export function useNames(project: string): Names {
  const params = { path: { project_id: project } };
  const listed = useQuery(`models of ${project}`, () =>
    answer(api.GET('/v1/projects/{project_id}/models', { params })),
  );
  const models = (listed.data?.models ?? []).map((model) => [model.id, modelName(model)] as const);
  const person = usePeople();
  return {
    models,
    model: (id) => models.find(([one]) => one === id)?.[1] ?? `model …${id.slice(-6)}`,
    person: (id) => (id === user.value?.id ? 'You' : person(id)),
  };
}
