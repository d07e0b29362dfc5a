import { createHash } from 'node:crypto';
import bcrypt from 'bcrypt';
import type { PasswordBlocklist, PasswordHasher } from '../../application/accounts/ports.js';
import { HashingBusy } from '../../domain/accounts/errors.js';
import { Lane, type LaneLoad } from '../system/scheduling.js';

/** Hashing uses at most two of libuv's four threads, so that file and DNS work goes on during a burst of logins. */
const WIDTH = 2;
const QUEUE = 64;

/**
 * Hashes a digest of the password, because bcrypt ignores every byte after the 72nd. The digest includes a label, so a
 * leaked list of plain SHA-256 digests does not help to guess passwords.
 */
export class BcryptPasswordHasher implements PasswordHasher {
  private readonly lane = new Lane(WIDTH, QUEUE, () => new HashingBusy());
  private dummyHash: Promise<string> | null = null;

  constructor(private readonly cost: number) {}

  get load(): LaneLoad {
    return this.lane.load;
  }

  hash(password: string): Promise<string> {
    return this.lane.run(() => bcrypt.hash(digestOf(password), this.cost));
  }

  async matches(password: string, hash: string | null): Promise<boolean> {
    const same = await this.lane.run(async () => {
      // Computes the dummy hash for a known account, too, so that the first call takes equally long for every account.
      this.dummyHash ??= bcrypt.hash('', this.cost);
      const dummyHash = await this.dummyHash;
      return bcrypt.compare(digestOf(password), hash ?? dummyHash);
    });
    return same && hash !== null;
  }
}

const digestOf = (password: string) => createHash('sha256').update(`tenon password\0${password}`).digest('base64');

/** Blocks the common passwords of zxcvbn. Reads their list at the first use. Blocks nothing if `enabled` is false. */
export class CommonPasswordBlocklist implements PasswordBlocklist {
  private list: ReadonlySet<string> | null = null;

  constructor(private readonly enabled: boolean) {}

  include(password: string): boolean {
    if (!this.enabled) return false;
    this.list ??= new Set(readList());
    return this.list.has(password.toLowerCase());
  }
}

function readList(): readonly string[] {
  const { dictionary } = require('@zxcvbn-ts/language-common') as { dictionary: Record<string, readonly string[]> };
  return dictionary['passwords-common'] ?? [];
}
