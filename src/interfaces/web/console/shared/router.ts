import { computed, signal } from '@preact/signals';
import { pathOf, placeOf } from './place.js';

/**
 * The open place. It is the part of the address after `#`, such as `#/projects/prj_…?version=3`. The service sends the
 * same page for all places, so every place has a link, also behind a proxy with a folder.
 */
const current = signal(placeOf(location.hash));

/** Called before the user leaves a place. Returns false to stay. */
type Guard = () => boolean;
let guard: Guard | null = null;

/** Guards the open place, for example a form with unsaved text. null removes the guard. */
export const guardLeaving = (mayLeave: Guard | null): void => {
  guard = mayLeave;
};

/** Returns whether the user may go to `next`. For another page, asks the guard, and removes it if it agrees. */
function mayGo(next: string): boolean {
  if (pathOf(next) === pathOf(current.value)) return true;
  if (guard && !guard()) return false;
  guard = null;
  return true;
}

/** The number of the open step of the history, which stores it too. It tells how to undo a refused step. */
let step = Number(history.state?.step ?? 0);
const keepStep = () => history.replaceState({ step }, '');
keepStep();

/** The state in which a place was left. */
interface Left {
  /** The distance that it was scrolled. */
  readonly top: number;
  /** The address of the focused link, which the user followed, or null. */
  readonly href: string | null;
}

/** The states in which the places were left, by the steps of the history. */
const left = new Map<number, Left>();
const keepLeft = () => left.set(step, { top: scrollY, href: document.activeElement?.getAttribute('href') ?? null });
let returnedTo: Left | null = null;
// The browser would scroll before the rows of a list are there. The layout scrolls instead.
history.scrollRestoration = 'manual';

/** If a step back or forward in the history opened this place: how it was left. Otherwise null. */
export const leftAt = (): Left | null => returnedTo;

addEventListener('hashchange', () => {
  const next = placeOf(location.hash);
  if (next === current.value) return;
  const reached: number | undefined = history.state?.step;
  if (!mayGo(next)) return history.go(reached === undefined ? -1 : step - reached || 1);
  keepLeft();
  returnedTo = reached === undefined ? null : (left.get(reached) ?? { top: 0, href: null });
  step = reached ?? step + 1;
  if (reached === undefined) keepStep();
  current.value = next;
});
// A step between two equal places does not change the hash.
addEventListener('popstate', ({ state }) => {
  if (placeOf(location.hash) === current.value) step = state?.step ?? step;
});
// A refused link must not add a step, so the guard is asked before the browser follows the link. No other handler
// prevents the click afterwards, because this handler runs last.
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

/** The parameters after `?`. */
export const query = computed(() => new URLSearchParams(current.value.split('?')[1] ?? ''));

/** Returns the link to a place, for `href`. Leaves out parameters that are null, undefined or empty. */
export function link(
  to: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const kept = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return `#${to}${search && `?${search}`}`;
}

/** Goes to a place by its link. With `replace`, the back button does not return to the present place. */
export function navigate(href: string, { replace = false } = {}): void {
  const place = placeOf(href);
  if (!mayGo(place)) return;
  keepLeft();
  returnedTo = null;
  if (replace) history.replaceState({ step }, '', href);
  else if (place !== current.value) history.pushState({ step: ++step }, '', href);
  current.value = place; // at once, so that a change of parameters in the same task starts from this place
}

/** Changes parameters of the open place. null removes a parameter. Filters use this, so that a link keeps them. */
export function setQuery(changes: Readonly<Record<string, string | number | null>>, { replace = true } = {}): void {
  const all = { ...Object.fromEntries(query.value), ...changes };
  navigate(link(path.value, all), { replace });
}

/** Returns the place of the list that has the object at `at`: `/jobs` for `/jobs/job_1`. Null if there is no list. */
export function listAbove(at: string): string | null {
  const parts = at.split('/');
  // Ids are at even positions, such as in ['', 'jobs', 'job_1'].
  const lastId = parts.length % 2 === 0 ? parts.length - 2 : parts.length - 1;
  return lastId >= 2 ? parts.slice(0, lastId).join('/') : null;
}
