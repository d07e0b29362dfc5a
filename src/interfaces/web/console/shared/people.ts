import { can } from './account.js';
import { answer, api } from './api.js';
import { useQuery } from './query.js';

/** Returns a function that returns the name of an account of the team by its id. */
export function usePeople(): (id: string) => string {
  const roster = useQuery(can('read_team') ? 'roster' : null, () => answer(api.GET('/v1/auth/users')));
  return (id) =>
    roster.data?.users.find((user) => user.id === id)?.name ?? `an account that is gone (…${id.slice(-6)})`;
}
