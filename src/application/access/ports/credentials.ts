import type { AccountCaller } from '../../../domain/access/caller.js';
import type { Credential } from '../../../domain/access/credential.js';
import { port } from '../../shared/port.js';

export interface CredentialFilter {
  readonly accountId: string;
  readonly kind: Credential['kind'];
  /** Only those that are not expired then. */
  readonly now: Date;
}

export interface RemovalFilter {
  readonly accountId: string;
  readonly kind: Credential['kind'];
  readonly origins?: readonly Credential['origin'][];
  /** This one stays. */
  readonly except?: string;
}

export interface Credentials {
  /** Throws Unauthenticated when the account is gone. */
  add(credential: Credential): Promise<void>;
  /** Who holds the unexpired credential of that digest at `now`, with the account's present team and role, else null. */
  holder(digest: string, now: Date): Promise<AccountCaller | null>;
  /** Of an account, newest first: at most `limit`, those that come after the one with the id `after`. */
  list(filter: CredentialFilter, page?: { limit: number; after: string | null }): Promise<Credential[]>;
  /** Notes that the credential was used, unless that was noted within the last minute. */
  touch(id: string, at: Date): Promise<void>;
  /** Ends the credential at once, in every process; true when there was one. */
  remove(id: string): Promise<boolean>;
  /** As `remove`, but only if the account has such a credential of that kind. */
  removeOwn(filter: Pick<CredentialFilter, 'accountId' | 'kind'>, id: string): Promise<boolean>;
  /** Ends all that the filter meets. */
  removeAll(filter: RemovalFilter): Promise<void>;
}
export const Credentials = port<Credentials>('access.Credentials');
