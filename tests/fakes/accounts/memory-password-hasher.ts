import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PasswordHasher } from '../../../src/application/accounts/ports.js';
import { HashingBusy } from '../../../src/domain/accounts/errors.js';

/** Hashes quickly, and so unsafely. */
export class MemoryPasswordHasher implements PasswordHasher {
  private salts = 0;
  private busy = 0;

  constructor(private readonly atOnce = 64) {}

  hash(password: string): Promise<string> {
    return this.inTurn(() => salted(password, String(++this.salts)));
  }

  matches(password: string, hash: string | null): Promise<boolean> {
    return this.inTurn(() => hash !== null && salted(password, hash.split(':')[0] ?? '') === hash);
  }

  private async inTurn<T>(work: () => T): Promise<T> {
    if (this.busy >= this.atOnce) throw new HashingBusy();
    this.busy++;
    await nextTurn();
    this.busy--;
    return work();
  }
}

const salted = (password: string, salt: string) =>
  `${salt}:${createHash('sha256').update(`${salt}:${password}`).digest('hex')}`;
