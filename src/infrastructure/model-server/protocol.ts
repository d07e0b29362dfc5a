import { z } from 'zod';

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

const serverMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), port: z.int() }),
  /** The model hangs. The service must kill the process. */
  z.object({ type: z.literal('stuck') }),
  /** The model file cannot be served. The process ends. */
  z.object({ type: z.literal('broken'), reason: z.string() }),
]);

export type ServerMessage = z.infer<typeof serverMessage>;

/** Returns null for anything that is not a message of the protocol. */
export const parseServerMessage = (message: unknown): ServerMessage | null =>
  serverMessage.safeParse(message).data ?? null;
