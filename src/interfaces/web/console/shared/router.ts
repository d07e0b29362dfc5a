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

addEventListener('hashchange', () => {
  const next = location.hash.slice(1) || '/';
  if (next === current.value) return;
  const leavesPage = next.split('?')[0] !== current.value.split('?')[0];
  if (leavesPage && guard && !guard()) {
    history.replaceState(null, '', `#${current.value}`);
    return;
  }
  if (leavesPage) guard = null;
  current.value = next;
});
addEventListener('beforeunload', (event) => guard && event.preventDefault());

/** The path of the open place, such as `/projects/prj_1`. */
export const path = computed(() => current.value.split('?')[0] as string);

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
  if (!replace) {
    location.hash = href.slice(1);
    return;
  }
  history.replaceState(null, '', href);
  current.value = href.slice(1) || '/';
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
