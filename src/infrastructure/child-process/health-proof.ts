import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { request } from 'node:http';

export const CHALLENGE_HEADER = 'x-tenon-challenge';
export const PROOF_HEADER = 'x-tenon-proof';

const CHALLENGE = /^[0-9a-f]{16,128}$/i;

/** Returns the hexadecimal HMAC of the challenge with the secret. Returns null if the challenge is malformed. */
export function proofOf(secret: string, challenge: unknown): string | null {
  if (typeof challenge !== 'string' || !CHALLENGE.test(challenge)) return null;
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(challenge).digest('hex');
}

/**
 * Probes the health of one child process. Only this process and the child know the secret, and each probe sends a new
 * challenge. So a probe of another process on the port fails, and so does a replayed answer.
 */
export class HealthProof {
  /** Hexadecimal. */
  readonly secret = randomBytes(32).toString('hex');

  /** Returns whether the process on the port gives the proof in time. */
  async holds(port: number, timeoutMs: number): Promise<boolean> {
    const challenge = randomBytes(32).toString('hex');
    const answer = await requestProof(challenge, port, timeoutMs).catch(() => '');
    const [expected, received] = [Buffer.from(String(proofOf(this.secret, challenge))), Buffer.from(answer)];
    return received.length === expected.length && timingSafeEqual(received, expected);
  }
}

function requestProof(challenge: string, port: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { [CHALLENGE_HEADER]: challenge };
    const signal = AbortSignal.timeout(timeoutMs);
    const probe = request({ host: '127.0.0.1', port, path: '/health', headers, agent: false, signal }, (response) => {
      resolve(response.statusCode === 200 ? String(response.headers[PROOF_HEADER] ?? '') : '');
      probe.destroy(); // the body of another server may be endless
    });
    probe.on('error', reject).end();
  });
}
