import { createHash } from 'node:crypto';
import bcrypt from 'bcrypt';
import type { PasswordHasher } from '../../application/accounts/ports.js';
import { HashingBusy } from '../../domain/accounts/errors.js';
import { Lane, type LaneLoad } from '../system/lane.js';

/** Two of libuv's four threads at most, so that file and DNS work goes on beside a burst of logins. */
const WIDTH = 2;
const QUEUE = 64;

/**
 * bcrypt reads no byte past the 72nd, so it is given a digest of the password instead, which has a fixed length. The
 * digest is told apart by a label, so that a leaked list of plain SHA-256 digests is of no use against it.
 */
export class BcryptPasswordHasher implements PasswordHasher {
  private readonly lane = new Lane(WIDTH, QUEUE, () => new HashingBusy());
  private nobody: Promise<string> | null = null;

  constructor(private readonly cost: number) {}

  get load(): LaneLoad {
    return this.lane.load;
  }

  hash(password: string): Promise<string> {
    return this.lane.run(() => bcrypt.hash(condensed(password), this.cost));
  }

  async matches(password: string, hash: string | null): Promise<boolean> {
    const same = await this.lane.run(async () => {
      // Waited for in either case, so that the first call, which makes it, takes as long in either.
      this.nobody ??= bcrypt.hash('', this.cost);
      const nobody = await this.nobody;
      return bcrypt.compare(condensed(password), hash ?? nobody);
    });
    return same && hash !== null;
  }
}

const condensed = (password: string) => createHash('sha256').update(`tenon password\0${password}`).digest('base64');
