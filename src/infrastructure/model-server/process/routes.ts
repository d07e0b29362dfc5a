import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../../child-process/health-proof.js';
import { MODEL_VERSION, type ServeOrder } from '../protocol.js';
import { type Handler, jsonAnswer, type RouteMatch, type Router } from './http-server.js';
import type { Inference } from './inference.js';
import type { Metrics } from './metrics.js';
import { RequestError } from './request-error.js';
import type { Signature } from './tensors.js';

export type ServedModel = Pick<ServeOrder, 'id' | 'name' | 'modelPath' | 'secret'> & Signature;

/** The handlers of each path by method. `{name}` is the name or id of the deployment, with or without `/versions/1`. */
type Routes = Readonly<Record<string, Partial<Record<string, Handler>>>>;

function routesOf(model: ServedModel, inference: Inference, metrics: Metrics): Routes {
  const { id, name, modelPath, secret, inputs, outputs } = model;
  const answer = (body: unknown): Partial<Record<string, Handler>> => ({ GET: () => jsonAnswer(body) });
  return {
    '/health': {
      GET: ({ headers }) => {
        const proof = proofOf(secret, headers[CHALLENGE_HEADER]);
        const body = { status: 'ok', id, name, model_path: modelPath, inputs, outputs };
        return jsonAnswer(body, proof === null ? {} : { [PROOF_HEADER]: proof });
      },
    },
    '/predict': { POST: (...call) => inference.run('predict', ...call) },
    '/metrics': {
      GET: async () => ({ status: 200, type: metrics.contentType, parts: [Buffer.from(await metrics.text())] }),
    },
    '/v2': answer({ name: 'tenon', version: MODEL_VERSION, extensions: ['binary_tensor_data'] }),
    '/v2/health/live': answer({ live: true }),
    '/v2/health/ready': answer({ ready: true }),
    '/v2/models/{name}': answer({ name, versions: [MODEL_VERSION], platform: 'onnxruntime_onnx', inputs, outputs }),
    '/v2/models/{name}/ready': answer({ name, ready: true }),
    '/v2/models/{name}/infer': { POST: (...call) => inference.run('infer', ...call) },
  };
}

const MODEL_PATH = new RegExp(`^/v2/models/([^/]+)(?:/versions/${MODEL_VERSION})?(?=/|$)`);

/** Returns the function that finds the handler of a request. An unknown path or method gets a handler that throws. */
export function createRouter(model: ServedModel, inference: Inference, metrics: Metrics): Router {
  const routes = routesOf(model, inference, metrics);
  const patternOf = (path: string): string => {
    const [prefix, name = ''] = MODEL_PATH.exec(path) ?? [];
    if (prefix === undefined) return path.includes('{') ? '' : path;
    const isOurs = [model.name, model.id].includes(decoded(name));
    return isOurs ? `/v2/models/{name}${path.slice(prefix.length)}` : '';
  };
  return (method, url) => {
    const route = patternOf(url.split('?', 1)[0] ?? '');
    const methods = Object.hasOwn(routes, route) ? routes[route] : undefined;
    if (!methods) return refused('none', new RequestError('not_found', 'There is no such route or model.'));
    const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handle) return { route, handle };
    const allowed = Object.keys(methods).join(', ');
    const message = `${method} is not possible here. Possible methods: ${allowed}.`;
    return refused(route, new RequestError('method_not_allowed', message, { Allow: allowed }));
  };
}

function refused(route: string, error: RequestError): RouteMatch {
  const handle = () => {
    throw error;
  };
  return { route, handle };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
