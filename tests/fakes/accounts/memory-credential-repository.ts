import type { CredentialRepository } from '../../../src/application/accounts/ports.js';
import type { AccountCaller } from '../../../src/domain/accounts/caller.js';
import type { Credential } from '../../../src/domain/accounts/credential.js';
import { Unauthenticated } from '../../../src/domain/accounts/errors.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';
import { accountRows } from './memory-account-repository.js';
import { teamRows } from './memory-team-repository.js';

const MINUTE_MS = 60_000;

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
    return this.holderOf(
      this.rows.find((one) => one.digest === digest),
      now,
    );
  }

  async holderById(id: string, now: Date): Promise<AccountCaller | null> {
    return this.holderOf(this.rows.get(id), now);
  }

  private holderOf(credential: Credential | null, now: Date): AccountCaller | null {
    const account = credential && this.accounts.get(credential.accountId);
    const team = account && this.teams.get(account.teamId);
    if (!team || (credential.expiresAt && credential.expiresAt <= now)) return null;
    const { id: accountId, name: accountName, teamId, role, emailVerifiedAt } = account;
    const { id: credentialId, kind, lastUsedAt } = credential;
    const holder = { accountId, accountName, teamId, role, emailVerified: emailVerifiedAt !== null };
    return { kind, credentialId, ...holder, operator: team.operator, lastUsedAt };
  }

  async list(...[{ accountId, kind, now }, page]: Parameters<CredentialRepository['list']>): Promise<Credential[]> {
    const own = this.rows.all().filter((one) => one.accountId === accountId && one.kind === kind);
    const live = own.filter(({ expiresAt }) => !expiresAt || expiresAt > now).sort((a, b) => (a.id < b.id ? 1 : -1));
    const after = page?.after ?? null;
    return live.filter(({ id }) => after === null || id < after).slice(0, page?.limit);
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
    for (const one of this.rows.all()) {
      const met = one.accountId === accountId && one.kind === kind && one.id !== except;
      if (met && (!origins || origins.includes(one.origin))) this.rows.remove(one.id);
    }
  }
}
