import { port } from '../../shared/port.js';

/** Slow on purpose. Throws HashingBusy when too many wait for it. */
export interface PasswordHasher {
  /** A salted hash to keep; every character of the password counts, however long it is. */
  hash(password: string): Promise<string>;
  /** Whether the password made the hash. Takes as long for null (nobody's hash), which never matches. */
  matches(password: string, hash: string | null): Promise<boolean>;
}
export const PasswordHasher = port<PasswordHasher>('accounts.PasswordHasher');
