import { createHash, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../../application/accounts/ports.js';

export class ConfiguredMasterKey implements MasterKey {
  private readonly digest: Buffer | null;

  constructor(key: string | null) {
    this.digest = key === null ? null : sha256(key);
  }

  matches(credential: string): boolean {
    return this.digest !== null && timingSafeEqual(this.digest, sha256(credential));
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
