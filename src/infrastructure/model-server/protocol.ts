import { createHmac } from 'node:crypto';

/** What the supervisor tells a serving process, once. */
export interface ServeOrder {
  readonly type: 'serve';
  /** The deployment's. */
  readonly id: string;
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** As the user named it. */
  readonly modelPath: string;
  readonly threads: number;
  /** Hexadecimal: the key of the proof. */
  readonly secret: string;
  /** The most rows that run together; null where requests run one by one. */
  readonly maxBatch: number | null;
  readonly maxDelayMs: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** A run of the model that takes longer has hung. */
  readonly inferenceTimeoutMs: number;
  /** What runs gets so long to end when the process is told to. */
  readonly graceMs: number;
}

/** What the process tells the supervisor, each once. After `broken` it ends; when it is `stuck` it has to be ended. */
export type ServingReport =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'stuck' }
  | { readonly type: 'broken'; readonly reason: string };

export const CHALLENGE_HEADER = 'x-tenon-challenge';
export const PROOF_HEADER = 'x-tenon-proof';

const CHALLENGE = /^[0-9a-f]{16,128}$/i;

/** The answer to a challenge that only who knows the secret can give; null where it is no challenge. */
export function proofOf(secret: string, challenge: unknown): string | null {
  if (typeof challenge !== 'string' || !CHALLENGE.test(challenge)) return null;
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(challenge).digest('hex');
}
