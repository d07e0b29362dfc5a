/** The version of every model file. */
export const MODEL_VERSION = '1';

/** The header with the length of the JSON in a body of the Open Inference Protocol. Binary tensors follow the JSON. */
export const LENGTH_HEADER = 'Inference-Header-Content-Length';

/** The only message that the service sends to a model server. It follows the start of the process. */
export interface ServeOrder {
  readonly type: 'serve';
  readonly id: string;
  readonly name: string;
  /** The absolute path of the model file. */
  readonly file: string;
  /** The path of the model file in the user's request. */
  readonly modelPath: string;
  readonly threads: number;
  /** The key of the health proof, in hexadecimal. */
  readonly secret: string;
  /** The most rows that run together, or null without batching. */
  readonly maxBatch: number | null;
  readonly maxDelayMs: number;
  readonly bodyLimit: number;
  /** A run of the model that takes longer counts as hung. */
  readonly inferenceTimeoutMs: number;
  /** Time for running requests to finish after SIGTERM. */
  readonly graceMs: number;
}

export type ServerMessage =
  | { readonly type: 'listening'; readonly port: number }
  /** The model hangs. The service must kill the process. */
  | { readonly type: 'stuck' }
  /** The model file cannot be served. The process ends. */
  | { readonly type: 'broken'; readonly reason: string };
