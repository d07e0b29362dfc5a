/** Returns the place that a link such as `#/projects?q=a` leads to: `/projects?q=a`. */
export const placeOf = (href: string) => href.slice(1) || '/';

/** Returns a place without its parameters. */
export const pathOf = (place: string) => place.split('?')[0] as string;

/** Returns the decoded part. Keeps an invalid encoding such as `%zz`, which the service refuses as an unknown id. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the parameters of the place `at` if it fits `pattern`, such as `/projects/:project_id`, otherwise null. */
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
