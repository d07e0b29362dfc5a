import { injectable } from 'inversify';
import { In, IsNull, LessThan, LessThanOrEqual, MoreThan, Not, Or } from 'typeorm';
import type { CredentialRepository } from '../../../application/accounts/ports.js';
import type { AccountCaller } from '../../../domain/accounts/caller.js';
import type { Credential } from '../../../domain/accounts/credential.js';
import { Unauthenticated } from '../../../domain/accounts/errors.js';
import { KeyRestrictions } from '../../../domain/accounts/key-restrictions.js';
import { isForeignKeyViolation } from '../storage-errors.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const CredentialTable = defineTable<Credential>('credentials', {
  id: { type: 'text', primary: true },
  kind: { type: 'text' },
  accountId: { type: 'text' },
  digest: { type: 'text' },
  hint: { type: 'text' },
  name: { type: 'text', nullable: true },
  origin: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  expiresAt: { type: 'timestamptz', nullable: true },
  lastUsedAt: { type: 'timestamptz', nullable: true },
  address: { type: 'text', nullable: true },
  userAgent: { type: 'text', nullable: true },
  projects: { type: 'text', array: true, nullable: true },
  permissions: { type: 'text', array: true, nullable: true },
  requestsPerMinute: { type: 'integer', nullable: true },
  tokensPerMinute: { type: 'integer', nullable: true },
  maxConcurrent: { type: 'integer', nullable: true },
  version: { type: 'integer' },
});

/** This SQL is written by hand. Every request runs it, so it is a prepared statement, which the ORM cannot make. */
const HOLDER = `
  SELECT c.kind, c.id AS "credentialId", c.last_used_at AS "lastUsedAt", a.id AS "accountId", a.name AS "accountName",
         a.email, a.alert_emails AS "alertEmails", a.created_at AS "createdAt", a.team_id AS "teamId", a.role, t.operator,
         a.email_verified_at IS NOT NULL AS "emailVerified", c.projects, c.permissions,
         c.requests_per_minute AS "requestsPerMinute", c.tokens_per_minute AS "tokensPerMinute",
         c.max_concurrent AS "maxConcurrent"
    FROM credentials c JOIN accounts a ON a.id = c.account_id JOIN teams t ON t.id = a.team_id
   WHERE (c.expires_at IS NULL OR c.expires_at > $2)`;

type HolderRow = Omit<AccountCaller, 'restrictions'> & KeyRestrictions;

function callerOf(row: HolderRow): AccountCaller {
  const { projects, permissions, requestsPerMinute, tokensPerMinute, maxConcurrent, ...caller } = row;
  const restrictions = { projects, permissions, requestsPerMinute, tokensPerMinute, maxConcurrent };
  return { ...caller, restrictions: KeyRestrictions.areNone(restrictions) ? null : restrictions };
}

const MINUTE_MS = 60_000;

@injectable()
export class TypeOrmCredentialRepository implements CredentialRepository {
  private readonly table = () => this.unitOfWork.repository(CredentialTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(credential: Credential): Promise<void> {
    try {
      await this.table().insert(credential);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new Unauthenticated() : error;
    }
  }

  async holder(digest: string, now: Date): Promise<AccountCaller | null> {
    const text = `${HOLDER} AND c.digest = $1`;
    const [found] = await this.unitOfWork.prepared<HolderRow>('holder by digest', text, [digest, now]);
    return found ? callerOf(found) : null;
  }

  async holdersById(ids: readonly string[], now: Date): Promise<AccountCaller[]> {
    const text = `${HOLDER} AND c.id = ANY($1)`;
    return (await this.unitOfWork.prepared<HolderRow>('holders by id', text, [ids, now])).map(callerOf);
  }

  list(...[{ accountId, kind, now, origin }, page]: Parameters<CredentialRepository['list']>): Promise<Credential[]> {
    const filter = { accountId, kind, ...(origin && { origin }), ...(page?.after && { id: LessThan(page.after) }) };
    const live = [
      { ...filter, expiresAt: IsNull() },
      { ...filter, expiresAt: MoreThan(now) },
    ];
    return this.table().find({ where: live, order: { id: 'DESC' }, ...(page && { take: page.limit }) });
  }

  find({ accountId, kind, id }: Parameters<CredentialRepository['find']>[0], now: Date): Promise<Credential | null> {
    const live = [{ expiresAt: IsNull() }, { expiresAt: MoreThan(now) }];
    return this.table().findOne({ where: live.map((one) => ({ ...one, id, accountId, kind })) });
  }

  replace(current: Credential, next: Credential): Promise<boolean> {
    const { name, version } = next;
    const change = { name, version, ...KeyRestrictions.of(next) };
    return changesOne(this.table().update({ id: current.id, version: current.version }, change));
  }

  async touch(id: string, at: Date): Promise<void> {
    const stale = LessThanOrEqual(new Date(at.getTime() - MINUTE_MS));
    await this.table().update({ id, lastUsedAt: Or(IsNull(), stale) }, { lastUsedAt: at });
  }

  remove({ accountId, kind, id }: Parameters<CredentialRepository['remove']>[0]): Promise<boolean> {
    return changesOne(this.table().delete({ id, accountId, kind }));
  }

  async removeAll({
    accountId,
    kind,
    origins,
    except,
  }: Parameters<CredentialRepository['removeAll']>[0]): Promise<void> {
    const some = { ...(origins && { origin: In([...origins]) }), ...(except && { id: Not(except) }) };
    await this.table().delete({ accountId, kind, ...some });
  }
}
