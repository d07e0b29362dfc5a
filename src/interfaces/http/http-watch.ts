import type { Route } from './contract.js';
import type { Exchange } from './exchange.js';

/** Whoever counts what is answered. It is told of every request, so it must cost next to nothing. */
export interface HttpWatch {
  /** A request has come; its end is told by calling what this answers. Of each label there are only so many values. */
  began(): (how: { readonly method: string; readonly route: string; readonly status: string }) => void;
  /** The limit that a request exceeded. */
  refused(limit: 'default' | 'auth'): void;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Tells the watch of each request, by the template of its route. */
export function watching(watch: HttpWatch, routes: readonly Route[]) {
  const templateOf = templates(routes);
  return (exchange: Exchange): void => {
    const { path, response } = exchange;
    const ended = watch.began();
    response.once('close', () => {
      const route = exchange.route ?? templateOf(path) ?? (response.statusCode < 400 ? 'other' : 'unknown');
      const method = METHODS.has(exchange.method) ? exchange.method : 'other';
      ended({ method, route, status: response.writableFinished ? String(response.statusCode) : 'gone' });
    });
  };
}

/** The template of a path that the router has not come to. */
function templates(routes: readonly Route[]): (path: string) => string | null {
  const known = [...new Set(routes.map(({ contract }) => contract.path))].sort();
  const forms = known.map((path) => {
    const form = path.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+');
    return { path, form: new RegExp(`^${form}$`) };
  });
  return (path) => forms.find(({ form }) => form.test(path))?.path ?? null;
}
