import { createHash } from 'node:crypto';
import { injectable } from 'inversify';
import type { ContentDigest, ContentHasher } from '../../application/workspace/ports.js';

/** The number of characters that are hashed together. Many short updates would take longer. */
const BATCH = 64 * 1024;

@injectable()
export class Sha256ContentHasher implements ContentHasher {
  begin(): ContentDigest {
    const hash = createHash('sha256');
    let batch = '';
    return {
      add(text) {
        batch += text;
        if (batch.length < BATCH) return;
        hash.update(batch);
        batch = '';
      },
      end: () => hash.update(batch).digest('hex'),
    };
  }

  short(text: string): string {
    return createHash('sha256').update(text).digest('base64');
  }
}
