import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { ContentHasher } from '../../application/workspace/ports.js';

/** The number of characters to hash before other work may run. Hashing them takes about a millisecond. */
const BATCH = 64 * 1024;

@injectable()
export class Sha256ContentHasher implements ContentHasher {
  async hash(parts: Iterable<string>): Promise<string> {
    const hash = createHash('sha256');
    let batch = '';
    for (const part of parts) {
      batch += part;
      if (batch.length < BATCH) continue;
      hash.update(batch);
      batch = '';
      await yieldToEventLoop();
    }
    return hash.update(batch).digest('hex');
  }
}
