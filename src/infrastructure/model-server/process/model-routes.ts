import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../../child-process/health-proof.js';
import type { ServeOrder } from '../protocol.js';
import type { Exchange } from './exchange.js';
import type { InferenceRoutes } from './inference-routes.js';
import type { Metrics } from './metrics.js';
import type { Routes } from './router.js';
import type { Signature } from './tensors.js';

export type ServedModel = Pick<ServeOrder, 'id' | 'name' | 'modelPath' | 'secret'> & Signature;

/** Every route of a serving process. */
export function modelRoutes(model: ServedModel, inference: InferenceRoutes, metrics: Metrics): Routes {
  const { id, name, inputs, outputs } = model;
  const infer = (exchange: Exchange) => inference.infer(exchange);
  const answer = (body: unknown) => ({ GET: (exchange: Exchange) => exchange.json(body) });
  return {
    '/health': {
      GET: (exchange) => {
        const proof = proofOf(model.secret, exchange.header(CHALLENGE_HEADER));
        const body = { status: 'ok', id, name, model_path: model.modelPath, inputs, outputs };
        exchange.json(body, proof === null ? {} : { [PROOF_HEADER]: proof });
      },
    },
    '/predict': { POST: (exchange) => inference.predict(exchange) },
    '/metrics': {
      GET: async (exchange) => {
        exchange.send(200, metrics.contentType, [Buffer.from(await metrics.text())]);
      },
    },
    '/v2': answer({ name: 'tenon', version: '1', extensions: ['binary_tensor_data'] }),
    '/v2/health/live': answer({ live: true }),
    '/v2/health/ready': answer({ ready: true }),
    '/v2/models/{name}': answer({ name, versions: ['1'], platform: 'onnxruntime_onnx', inputs, outputs }),
    '/v2/models/{name}/ready': answer({ name, ready: true }),
    '/v2/models/{name}/infer': { POST: infer },
  };
}
