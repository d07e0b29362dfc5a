import type { components } from '../../shared/openapi-types.js';

export type Instance = components['schemas']['LivingInstance'];

/** Returns the different versions, that of the oldest instance first. More than one means a rolling update. */
export const versionsOf = (instances: readonly Instance[]): readonly string[] => [
  ...new Set(instances.map(({ version }) => version)),
];

/** Counts the models in each state, in the order in which the states come first. */
export const countsOf = (states: readonly string[]): readonly (readonly [state: string, count: number])[] =>
  [...new Set(states)].map((state) => [state, states.filter((one) => one === state).length]);

/** The runtimes that are not ready and are shown by name. The cell of a table has little room. */
const MOST_NAMED = 3;

/** Returns how many runtimes are ready, some of the others to show by name, and how many more there are. */
export function readiness(runtimes: Instance['runtimes']) {
  const others = runtimes.filter(({ state }) => state !== 'ready');
  const named = others.slice(0, MOST_NAMED);
  return { ready: runtimes.length - others.length, named, more: others.length - named.length };
}
