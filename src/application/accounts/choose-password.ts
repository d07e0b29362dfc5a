import { injectable } from 'inversify';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { PasswordBlocklist, PasswordHasher } from './ports.js';

/** Makes the hash of a password that somebody chose. */
@injectable()
export class ChoosePassword {
  constructor(
    private readonly common: PasswordBlocklist,
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
