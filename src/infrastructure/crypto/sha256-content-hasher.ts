import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { ContentHasher } from '../../application/workspace/ports.js';

/** After this many characters, other work has its turn. To hash them takes a few milliseconds. */
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
