import { computed, signal } from '@preact/signals';

/**
 * Routes by the part of the address behind `#`, such as `#/projects/prj_…?version=3`. The service sends one page for all,
 * so every place has a link, also behind a proxy with a folder.
 */
const current = signal(location.hash.slice(1) || '/');

/** Asks before a place is left. Returns false to stay. */
type Guard = () => boolean;
let guard: Guard | null = null;

/** Guards the open place while `mayLeave` is set, such as a form with unsaved text. Pass null to stop. */
export const guardLeaving = (mayLeave: Guard | null): void => {
  guard = mayLeave;
};

const pathOf = (place: string) => place.split('?')[0] as string;
const placeOf = (href: string) => href.slice(1) || '/';

/** Asks the guard, if `next` is another page. The guard goes with the page. */
function mayGo(next: string): boolean {
  if (pathOf(next) === pathOf(current.value)) return true;
  if (guard && !guard()) return false;
  guard = null;
  return true;
}

/** Counts the steps of the history, in its own state, so that a refused step back or forward can be undone. */
let step = Number(history.state?.step ?? 0);
const keepStep = () => history.replaceState({ step }, '');
keepStep();

addEventListener('hashchange', () => {
  const next = placeOf(location.hash);
  if (next === current.value) return;
  const reached: number | undefined = history.state?.step;
  if (!mayGo(next)) return history.go(reached === undefined ? -1 : step - reached || 1);
  step = reached ?? step + 1;
  if (reached === undefined) keepStep();
  current.value = next;
});
// A step between two places that are the same changes no hash.
addEventListener('popstate', ({ state }) => {
  if (placeOf(location.hash) === current.value) step = state?.step ?? step;
});
// A link that is refused must leave no step behind, so it is asked for before the browser follows it. No other handler
// prevents the click afterwards, since this one is the last.
addEventListener('click', (event) => {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  const href = target instanceof Element ? target.closest('a')?.getAttribute('href') : null;
  if (!href?.startsWith('#') || event.defaultPrevented) return;
  if (button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return;
  if (!mayGo(placeOf(href))) event.preventDefault();
});
addEventListener('beforeunload', (event) => guard && event.preventDefault());

/** The path of the open place, such as `/projects/prj_1`. */
export const path = computed(() => pathOf(current.value));

/** The parameters behind `?`. */
export const query = computed(() => new URLSearchParams(current.value.split('?')[1] ?? ''));

/** Returns the link to a place, for `href`. Parameters that are null or empty are left out. */
export function link(
  to: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const kept = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return `#${to}${search && `?${search}`}`;
}

/** Goes to a place by its link. `replace` makes no step for the back button. */
export function navigate(href: string, { replace = false } = {}): void {
  if (!mayGo(placeOf(href))) return;
  if (replace) {
    history.replaceState({ step }, '', href);
    current.value = placeOf(href);
  } else location.hash = href.slice(1);
}

/** Changes parameters of the open place. Null removes one. Filters use it, so a link shows what they show. */
export function setQuery(changes: Readonly<Record<string, string | number | null>>, { replace = true } = {}): void {
  const all = { ...Object.fromEntries(query.value), ...changes };
  navigate(link(path.value, all), { replace });
}

/** Returns the part as it is if it is no valid encoding, such as `%zz`: the service refuses it as an unknown id. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the place of the list that holds what a place shows: `/jobs` for `/jobs/job_1`. Null: the place shows no such thing. */
export function listAbove(at: string): string | null {
  const parts = at.split('/');
  const id = parts.length - (parts.length % 2 === 0 ? 2 : 1);
  return id >= 2 ? parts.slice(0, id).join('/') : null;
}

/** Returns the parameters of `path` if it fits `pattern`, such as `/projects/:project_id`; else null. */
export function match(pattern: string, at: string): Readonly<Record<string, string>> | null {
  const names = pattern.split('/');
  const parts = at.split('/');
  if (names.length !== parts.length) return null;
  const found: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index] as string;
    if (name.startsWith(':') && part) found[name.slice(1)] = decoded(part);
    else if (name !== part) return null;
  }
  return found;
}
