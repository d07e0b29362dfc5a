import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../../child-process/health-proof.js';
import type { ServeOrder } from '../protocol.js';
import type { Handler, RouteMatch } from './http-server.js';
import type { Inference } from './inference.js';
import type { Metrics } from './metrics.js';
import { RequestError } from './request-error.js';
import type { Signature } from './tensors.js';

/** The handlers of each path by method. `{name}` stands for the name or id of the model, with or without its version. */
type Routes = Readonly<Record<string, Partial<Record<'GET' | 'POST', Handler>>>>;

export type ServedModel = Pick<ServeOrder, 'id' | 'name' | 'modelPath' | 'secret'> & Signature;

function routesOf(model: ServedModel, inference: Inference, metrics: Metrics): Routes {
  const { id, name, modelPath, secret, inputs, outputs } = model;
  const answer = (body: unknown): { GET: Handler } => ({ GET: (context) => context.json(body) });
  return {
    '/health': {
      GET: (context) => {
        const proof = proofOf(secret, context.header(CHALLENGE_HEADER));
        const body = { status: 'ok', id, name, model_path: modelPath, inputs, outputs };
        context.json(body, proof === null ? {} : { [PROOF_HEADER]: proof });
      },
    },
    '/predict': { POST: (context) => inference.predict(context) },
    '/metrics': {
      GET: async (context) => context.send(200, metrics.contentType, [Buffer.from(await metrics.text())]),
    },
    '/v2': answer({ name: 'tenon', version: '1', extensions: ['binary_tensor_data'] }),
    '/v2/health/live': answer({ live: true }),
    '/v2/health/ready': answer({ ready: true }),
    '/v2/models/{name}': answer({ name, versions: ['1'], platform: 'onnxruntime_onnx', inputs, outputs }),
    '/v2/models/{name}/ready': answer({ name, ready: true }),
    '/v2/models/{name}/infer': { POST: (context) => inference.infer(context) },
  };
}

const MODEL_PATH = /^\/v2\/models\/([^/]+)(?:\/versions\/1)?(?=\/|$)/;

/** Finds the handler of a request. Handlers of unknown paths and methods throw a RequestError. */
export class Router {
  private readonly routes: Routes;

  constructor(
    private readonly model: ServedModel,
    inference: Inference,
    metrics: Metrics,
  ) {
    this.routes = routesOf(model, inference, metrics);
  }

  match(method: string, url: string): RouteMatch {
    const route = this.patternOf(url.split('?', 1)[0] ?? '');
    const methods = Object.hasOwn(this.routes, route) ? this.routes[route] : undefined;
    if (!methods)
      return { route: 'none', handle: throws(new RequestError('not_found', 'There is no such route or model.')) };
    const handle = method === 'GET' || method === 'POST' ? methods[method] : undefined;
    return { route, handle: handle ?? throws(methodNotAllowed(method, Object.keys(methods))) };
  }

  private patternOf(path: string): string {
    const [prefix, name = ''] = MODEL_PATH.exec(path) ?? [];
    if (prefix === undefined) return path.includes('{') ? '' : path;
    const isOurs = [this.model.name, this.model.id].includes(decoded(name));
    return isOurs ? `/v2/models/{name}${path.slice(prefix.length)}` : '';
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const throws =
  (error: RequestError): Handler =>
  () => {
    throw error;
  };

function methodNotAllowed(method: string, allowed: readonly string[]): RequestError {
  const methods = allowed.join(', ');
  const message = `${method} is not possible here; these are: ${methods}.`;
  return new RequestError('method_not_allowed', message, { Allow: methods });
}
