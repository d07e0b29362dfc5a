import type { Account } from '../../domain/accounts/account.js';
import { LastAdmin } from '../../domain/accounts/errors.js';
import { NotFound } from '../../domain/shared/errors.js';

/** Throws NotFound for an account of another team as for one that does not exist. */
export function memberOf(team: readonly Account[], accountId: string): Account {
  const account = team.find(({ id }) => id === accountId);
  if (!account) throw new NotFound('user');
  return account;
}

/** Throws LastAdmin where the team would have no admin without this account. */
export function requireAnotherAdmin(team: readonly Account[], account: Account): void {
  const admins = team.filter(({ role }) => role === 'admin');
  if (admins.length === 1 && admins[0]?.id === account.id) throw new LastAdmin();
}
