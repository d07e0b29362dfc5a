import type {
  AccountRepository,
  CredentialRepository,
  InviteRepository,
  MailedTokenRepository,
  SpentSiteTokenRepository,
  TeamRepository,
} from '../../../src/application/accounts/ports.js';
import { type Account, emailKey, type Team } from '../../../src/domain/accounts/account.js';
import type { AccountCaller } from '../../../src/domain/accounts/caller.js';
import type { Credential } from '../../../src/domain/accounts/credential.js';
import { EmailTaken, Unauthenticated } from '../../../src/domain/accounts/errors.js';
import type { Invite } from '../../../src/domain/accounts/invite.js';
import type { MailedToken } from '../../../src/domain/accounts/mailed-token.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

const MINUTE_MS = 60_000;

export const accountRows = (store: MemoryStore) => new MemoryTable<Account>(store, 'accounts');
const teamRows = (store: MemoryStore) => new MemoryTable<Team>(store, 'teams');

export class MemoryAccountRepository implements AccountRepository {
  private readonly rows;

  constructor(private readonly store: MemoryStore) {
    this.rows = accountRows(store);
  }

  async add(account: Account): Promise<void> {
    if (this.withEmail(account.email)) throw new EmailTaken();
    this.rows.put(account.id, account);
  }

  async save(account: Account): Promise<void> {
    const holder = this.withEmail(account.email);
    if (holder && holder.id !== account.id) throw new EmailTaken();
    this.rows.replace(account.id, account);
  }

  byId = async (id: string) => this.rows.get(id);

  byEmail = async (email: string) => this.withEmail(email);

  ofTeam = async (teamId: string) => this.rows.newest((account) => account.teamId === teamId).reverse();

  wantingAlerts = async (teamId: string) => (await this.ofTeam(teamId)).filter(({ alertEmails }) => alertEmails);

  async all({ limit, after }: Parameters<AccountRepository['all']>[0]): Promise<Account[]> {
    const newestFirst = this.rows.newest(({ id }) => after === null || id > after);
    return newestFirst.reverse().slice(0, limit);
  }

  count = async () => this.rows.all().length;

  async remove(id: string): Promise<void> {
    this.rows.remove(id);
    for (const table of ['credentials', 'mailed_tokens', 'conversations'])
      new MemoryTable<{ readonly accountId: string }>(this.store, table).removeAll(({ accountId }) => accountId === id);
  }

  private withEmail(email: string): Account | null {
    const key = emailKey(email);
    return this.rows.find((account) => emailKey(account.email) === key);
  }
}

export class MemoryTeamRepository implements TeamRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = teamRows(store);
  }

  add = async (team: Team) => this.rows.put(team.id, team);

  byId = async (id: string) => this.rows.get(id);

  bySiteKey = async (siteKey: string) => this.rows.find((team) => team.siteKey === siteKey);

  operator = async () => this.rows.find(({ operator }) => operator);
}

export class MemoryCredentialRepository implements CredentialRepository {
  private readonly rows;
  private readonly accounts;
  private readonly teams;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Credential>(store, 'credentials');
    this.accounts = accountRows(store);
    this.teams = teamRows(store);
  }

  async add(credential: Credential): Promise<void> {
    if (!this.accounts.get(credential.accountId)) throw new Unauthenticated();
    this.rows.put(credential.id, credential);
  }

  async holder(digest: string, now: Date): Promise<AccountCaller | null> {
    const credential = this.rows.find((one) => one.digest === digest);
    return credential && this.holderById(credential.id, now);
  }

  async holderById(credentialId: string, now: Date): Promise<AccountCaller | null> {
    const credential = this.rows.get(credentialId);
    const account = credential && this.accounts.get(credential.accountId);
    const team = account && this.teams.get(account.teamId);
    if (!team || (credential.expiresAt && credential.expiresAt <= now)) return null;
    const { id: accountId, name: accountName, email, alertEmails, createdAt, teamId, role, emailVerifiedAt } = account;
    const { kind, lastUsedAt } = credential;
    const profile = { accountId, accountName, email, alertEmails, createdAt, emailVerified: emailVerifiedAt !== null };
    const holder = { ...profile, teamId, role };
    return { kind, credentialId, ...holder, operator: team.operator, lastUsedAt };
  }

  async list(
    ...[{ accountId, kind, now, origin }, page]: Parameters<CredentialRepository['list']>
  ): Promise<Credential[]> {
    const isLive = ({ expiresAt }: Credential) => !expiresAt || expiresAt > now;
    const isOwn = (one: Credential) => one.accountId === accountId && one.kind === kind;
    return this.rows.newest((one) => isOwn(one) && (!origin || one.origin === origin) && isLive(one), page);
  }

  async touch(id: string, at: Date): Promise<void> {
    const credential = this.rows.get(id);
    const noted = credential?.lastUsedAt;
    if (!credential || (noted && at.getTime() - noted.getTime() < MINUTE_MS)) return;
    this.rows.put(id, { ...credential, lastUsedAt: at });
  }

  async remove({ accountId, kind, id }: Parameters<CredentialRepository['remove']>[0]): Promise<boolean> {
    const credential = this.rows.get(id);
    return credential?.accountId === accountId && credential.kind === kind && this.rows.remove(id);
  }

  async removeAll(filter: Parameters<CredentialRepository['removeAll']>[0]): Promise<void> {
    const { accountId, kind, origins, except } = filter;
    this.rows.removeAll((one) => {
      const own = one.accountId === accountId && one.kind === kind && one.id !== except;
      return own && (!origins || origins.includes(one.origin));
    });
  }
}

export class MemoryInviteRepository implements InviteRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Invite>(store, 'invites');
  }

  add = async (invite: Invite) => this.rows.put(invite.id, invite);

  async save(invite: Invite): Promise<void> {
    this.rows.replace(invite.id, invite);
  }

  async revokeAllBy(accountId: string): Promise<void> {
    const own = this.rows.all().filter((one) => one.invitedBy === accountId && one.status === 'pending');
    for (const invite of own) this.rows.put(invite.id, { ...invite, status: 'revoked' });
  }

  find = async (teamId: string, id: string) => this.rows.find((one) => one.id === id && one.teamId === teamId);

  byDigest = async (digest: string) => this.rows.find((invite) => invite.digest === digest);

  async pending(teamId: string, now: Date): Promise<Invite[]> {
    return this.rows.newest((one) => one.teamId === teamId && one.status === 'pending' && one.expiresAt > now);
  }

  async countPending(teamId: string, now: Date): Promise<number> {
    return (await this.pending(teamId, now)).length;
  }
}

export class MemoryMailedTokenRepository implements MailedTokenRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<MailedToken>(store, 'mailed_tokens');
  }

  add = async (token: MailedToken) => this.rows.put(token.id, token);

  async save(token: MailedToken): Promise<void> {
    this.rows.replace(token.id, token);
  }

  byDigest = async (digest: string) => this.rows.find((token) => token.digest === digest);

  async countSince(...[accountId, purpose, since]: Parameters<MailedTokenRepository['countSince']>): Promise<number> {
    const own = this.rows.all().filter((one) => one.accountId === accountId && one.purpose === purpose);
    return own.filter(({ createdAt }) => createdAt > since).length;
  }

  async removeUnused(...[accountId, purpose]: Parameters<MailedTokenRepository['removeUnused']>): Promise<void> {
    this.rows.removeAll((one) => one.accountId === accountId && one.purpose === purpose && !one.usedAt);
  }
}

export class MemorySpentSiteTokenRepository implements SpentSiteTokenRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<{ readonly expiresAt: Date }>(store, 'spent_site_tokens');
  }

  async spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean> {
    this.rows.removeAll((spent) => spent.expiresAt <= now);
    if (expiresAt <= now || this.rows.get(tokenId)) return false;
    this.rows.put(tokenId, { expiresAt });
    return true;
  }
}
