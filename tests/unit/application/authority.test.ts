import { ApiKeyService } from '../../../src/application/accounts/api-key.service.js';
import { Authority } from '../../../src/application/accounts/authority.js';
import { InviteService } from '../../../src/application/accounts/invite.service.js';
import { TeamService } from '../../../src/application/accounts/team.service.js';
import type { Account } from '../../../src/domain/accounts/account.js';
import type { AccountCaller } from '../../../src/domain/accounts/caller.js';
import type { Credential } from '../../../src/domain/accounts/credential.js';
import { permissions } from '../../../src/domain/accounts/permission.js';
import { CheckedTokens } from '../../../src/infrastructure/crypto/secrets.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { auditOn } from '../../support/audit.js';
import { query } from '../../support/database.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { anAccount, anApiKey, anInvite, aSession, aTeam, at, ids } from '../../support/records.js';
import type { Repositories } from '../../support/repositories.js';

describe('Authority', () => {
  const tables = ['accounts', 'credentials', 'invites', 'audit_entries'];
  const clock = new ManualClock(at(1));
  const store = postgresUnderTest();
  let repositories: Repositories;
  let admin: Account;
  let member: Account;
  let session: Credential;
  let caller: AccountCaller;

  beforeEach(async () => {
    repositories = await store.open();
    const team = aTeam();
    await repositories.teams.add(team);
    admin = anAccount(team, { role: 'admin', emailVerifiedAt: at(0) });
    member = anAccount(team);
    const second = anAccount(team, { role: 'admin' });
    session = aSession(admin);
    for (const account of [admin, member, second]) await repositories.accounts.add(account);
    for (const credential of [session, anApiKey(admin, { id: 'key_1' })])
      await repositories.credentials.add(credential);
    await repositories.invites.add(anInvite(team, { id: 'inv_1' }));
    caller = (await repositories.credentials.holder(session.digest, at(1))) as AccountCaller;
  });

  const services = () => {
    const { unitOfWork, accounts, invites, credentials } = repositories;
    const authority = new Authority(credentials, clock);
    const audit = auditOn(repositories, clock);
    const tokens = new CheckedTokens();
    return {
      keys: new ApiKeyService(unitOfWork, credentials, authority, audit, tokens, ids, clock),
      invites: new InviteService(unitOfWork, invites, accounts, authority, audit, tokens, ids, clock),
      team: new TeamService(unitOfWork, accounts, invites, authority, audit),
    };
  };

  const teamWrites: [string, () => Promise<unknown>][] = [
    ['creating an invite', () => services().invites.create(caller, { email: null, role: 'admin' })],
    ['revoking an invite', () => services().invites.revoke(caller, { id: 'inv_1' })],
    ['changing a role', () => services().team.changeRole(caller, { accountId: member.id, role: 'admin' })],
    ['removing an account', () => services().team.remove(caller, { accountId: member.id })],
  ];
  const keyWrites: [string, () => Promise<unknown>][] = [
    ['minting a key', () => services().keys.mint(caller, { name: null, lifetimeSeconds: null })],
    ['revoking a key', () => services().keys.revoke(caller, { id: 'key_1' })],
  ];

  const refused = async (write: () => Promise<unknown>, code: string) => {
    const rows = () => Promise.all(tables.map((table) => query(store.url, `SELECT * FROM ${table} ORDER BY id`)));
    const before = await rows();
    await expect(write()).rejects.toMatchObject({ code });
    expect(await rows()).toEqual(before);
  };

  const writes = [...teamWrites, ...keyWrites];

  it.each(writes)('allows %s while the caller has the permission', async (_, write) => {
    await expect(write()).resolves.not.toThrow();
  });

  it.each(writes)('refuses %s with a session that has ended or expired meanwhile', async (_, write) => {
    clock.set(session.expiresAt as Date);
    await refused(write, 'unauthenticated').finally(() => clock.set(at(1)));
    await repositories.credentials.remove(session);
    await refused(write, 'unauthenticated');
  });

  it.each(writes)('refuses %s to an account that was removed meanwhile', async (_, write) => {
    await repositories.accounts.remove(admin.id);
    await refused(write, 'unauthenticated');
  });

  it.each(teamWrites)('refuses %s to an account that was demoted meanwhile', async (_, write) => {
    await repositories.accounts.save({ ...admin, role: 'developer' });
    await refused(write, 'forbidden');
  });

  it('confirms the master key, refuses it if a session is required, and refuses a missing caller', async () => {
    const authority = new Authority(repositories.credentials, clock);
    expect(await authority.confirm({ kind: 'master' }, permissions.runJobs)).toEqual({ kind: 'master' });
    await expect(authority.confirm(null, permissions.runJobs)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(authority.confirm({ kind: 'master' }, permissions.manageTeam)).rejects.toMatchObject({
      code: 'session_required',
    });
  });
});
