import type { Exchange } from './exchange.js';
import { Refusal } from './refusal.js';

type Method = 'GET' | 'POST';
type Handler = (exchange: Exchange) => void | Promise<void>;

/** The handlers of each path, by method. `{name}` is the model's name or id; its `/versions/1` may follow that. */
export type Routes = Readonly<Record<string, Partial<Record<Method, Handler>>>>;

export interface Match {
  /** As the table has it: whatever callers make up is no route. */
  readonly route: string;
  /** Throws a Refusal. */
  readonly handle: Handler;
}

const MODEL = /^\/v2\/models\/([^/]+)(?:\/versions\/1)?(?=\/|$)/;

export class Router {
  constructor(
    private readonly routes: Routes,
    private readonly names: readonly string[],
  ) {}

  match(method: string, url: string): Match {
    const route = this.routeOf(url.split('?', 1)[0] ?? '');
    const methods = Object.hasOwn(this.routes, route) ? this.routes[route] : undefined;
    if (!methods)
      return { route: 'none', handle: refuse(new Refusal('not_found', 'There is no such route or model.')) };
    const handle = method === 'GET' || method === 'POST' ? methods[method] : undefined;
    return { route, handle: handle ?? refuse(notAllowed(method, Object.keys(methods))) };
  }

  private routeOf(path: string): string {
    const [prefix, name = ''] = MODEL.exec(path) ?? [];
    if (prefix === undefined) return path.includes('{') ? '' : path;
    return this.names.includes(decoded(name)) ? `/v2/models/{name}${path.slice(prefix.length)}` : '';
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const refuse =
  (refusal: Refusal): Handler =>
  () => {
    throw refusal;
  };

const notAllowed = (method: string, allowed: readonly string[]): Refusal =>
  new Refusal('method_not_allowed', `${method} is not possible here; these are: ${allowed.join(', ')}.`, {
    Allow: allowed.join(', '),
  });
