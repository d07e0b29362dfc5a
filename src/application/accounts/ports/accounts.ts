import type { Account } from '../../../domain/accounts/account.js';
import { port } from '../../shared/port.js';

export interface Accounts {
  /** Throws EmailTaken when another account has the same e-mail key (see `emailKey`). */
  add(account: Account): Promise<void>;
  /** Writes what has changed of a known account. */
  save(account: Account): Promise<void>;
  byId(id: string): Promise<Account | null>;
  /** Finds an account by any spelling of its e-mail. */
  byEmail(email: string): Promise<Account | null>;
  /** Of a team, oldest first. */
  ofTeam(teamId: string): Promise<Account[]>;
  /** Those of a team that ask for alerts by e-mail, oldest first. */
  wantingAlerts(teamId: string): Promise<Account[]>;
  /** Of every team, oldest first: at most `limit`, those that come after the one with the id `after`. */
  all(page: { readonly limit: number; readonly after: string | null }): Promise<Account[]>;
  /** Of the whole deployment. */
  count(): Promise<number>;
  /** Removes the account with all its credentials and mailed tokens, at once and in every process. */
  remove(id: string): Promise<void>;
}
export const Accounts = port<Accounts>('accounts.Accounts');
