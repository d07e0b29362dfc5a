import type { Account } from '../../../src/domain/accounts/account.js';
import { aTeam } from '../../support/records.js';
import type { Member } from '../../support/workspace.js';
import type { TestApp } from './test-app.js';

/** Changes a stored account, as if by another call. */
export async function changeAccount(app: TestApp, { id }: Member, change: Partial<Account>): Promise<void> {
  const account = (await app.store.accounts.byId(id)) as Account;
  await app.store.accounts.save({ ...account, ...change });
}

/** Makes an account the admin of a new team of its own. */
export async function moveToOwnTeam(app: TestApp, member: Member): Promise<void> {
  const team = aTeam();
  await app.store.teams.add(team);
  await changeAccount(app, member, { teamId: team.id, role: 'admin' });
}
