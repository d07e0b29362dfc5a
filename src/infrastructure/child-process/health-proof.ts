import { randomBytes, timingSafeEqual } from 'node:crypto';
import { request } from 'node:http';
import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../model-server/protocol.js';

/**
 * A key that only one process is told. Whoever answers a nonce that was never asked before with its HMAC is that
 * process: neither a stranger on its port nor a recording of an earlier answer can.
 */
export class HealthProof {
  /** In hexadecimal. */
  readonly secret = randomBytes(32).toString('hex');

  /** Whether the process on the port gives the proof within the time. */
  async holds(port: number, timeoutMs: number): Promise<boolean> {
    const nonce = randomBytes(32).toString('hex');
    const answer = await answerTo(nonce, port, timeoutMs).catch(() => null);
    return answer !== null && this.isFor(nonce, answer);
  }

  private isFor(nonce: string, answer: string): boolean {
    const [right, given] = [String(proofOf(this.secret, nonce)), answer].map((text) => Buffer.from(text)) as [
      Buffer,
      Buffer,
    ];
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

function answerTo(nonce: string, port: number, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const headers = { [CHALLENGE_HEADER]: nonce };
    const signal = AbortSignal.timeout(timeoutMs);
    const asked = request({ host: '127.0.0.1', port, path: '/health', headers, agent: false, signal }, (response) => {
      resolve(response.statusCode === 200 ? String(response.headers[PROOF_HEADER] ?? '') : null);
      asked.destroy(); // whatever else it says: a stranger may say it without an end
    });
    asked.on('error', reject).end();
  });
}
