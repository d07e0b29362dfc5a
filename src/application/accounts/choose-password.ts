import { InvalidRequest } from '../../domain/shared/errors.js';
import type { CommonPasswords } from './ports/common-passwords.js';
import type { PasswordHasher } from './ports/password-hasher.js';

/** Makes the hash of a password that somebody chose. */
export class ChoosePassword {
  constructor(
    private readonly common: CommonPasswords,
    private readonly hasher: PasswordHasher,
  ) {}

  /** Throws InvalidRequest for a common password, where those are refused; HashingBusy. */
  async execute(password: string): Promise<string> {
    if (this.common.include(password)) {
      throw new InvalidRequest([{ path: 'password', message: 'is one of the most common passwords: choose another' }]);
    }
    return this.hasher.hash(password);
  }
}
