import { createHash } from 'node:crypto';
import bcrypt from 'bcrypt';
import type { PasswordBlocklist, PasswordHasher } from '../../application/accounts/ports.js';
import { HashingBusy } from '../../domain/accounts/errors.js';
import { Lane, type LaneLoad } from '../system/scheduling.js';

/** At most two of libuv's four threads, so that file and DNS work goes on during a burst of logins. */
const WIDTH = 2;
const QUEUE = 64;

/**
 * Gives bcrypt, which ignores every byte past the 72nd, a digest of the password. The digest is labelled, so that a leaked
 * list of plain SHA-256 digests does not help to guess it.
 */
export class BcryptPasswordHasher implements PasswordHasher {
  private readonly lane = new Lane(WIDTH, QUEUE, () => new HashingBusy());
  private nobody: Promise<string> | null = null;

  constructor(private readonly cost: number) {}

  get load(): LaneLoad {
    return this.lane.load;
  }

  hash(password: string): Promise<string> {
    return this.lane.run(() => bcrypt.hash(digestOf(password), this.cost));
  }

  async matches(password: string, hash: string | null): Promise<boolean> {
    const same = await this.lane.run(async () => {
      // Computed in either case, so that the first call takes equally long for a known and an unknown account.
      this.nobody ??= bcrypt.hash('', this.cost);
      const nobody = await this.nobody;
      return bcrypt.compare(digestOf(password), hash ?? nobody);
    });
    return same && hash !== null;
  }
}

const digestOf = (password: string) => createHash('sha256').update(`tenon password\0${password}`).digest('base64');

/** The common passwords of zxcvbn, read at the first use; no password if the list is switched off. */
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
