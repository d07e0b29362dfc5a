import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { Credential, type KeyChange } from '../../domain/accounts/credential.js';
import { KeyRestrictions } from '../../domain/accounts/key-restrictions.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { AuditDetails } from '../../domain/audit/audit-entry.js';
import { InvalidRequest, LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, type Page, UnitOfWork } from '../shared/ports.js';
import { KeyLimitRepository } from '../spend/ports.js';
import { ProjectRepository } from '../workspace/ports.js';
import { Authority } from './authority.js';
import { CredentialRepository, SecretTokens } from './ports.js';

interface NewKey {
  readonly name: string | null;
  /** The time until the key expires. Null: it does not. */
  readonly lifetimeSeconds: number | null;
  readonly restrictions: KeyRestrictions;
}

interface OfKey {
  readonly id: string;
}

interface Editing extends OfKey {
  /** The versions that the caller takes for the current one. */
  readonly expected: readonly number[];
  readonly change: KeyChange;
}

/** Limits the unexpired minted keys of an account. Keys of registrations and logins do not count. */
const MOST_KEYS = 100;

/** Manages the caller's own API keys. */
@injectable()
export class ApiKeyService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly credentials: CredentialRepository,
    private readonly limits: KeyLimitRepository,
    private readonly projects: ProjectRepository,
    private readonly authority: Authority,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a key and returns its secret. The secret cannot be read again. Throws LimitReached, InvalidRequest. */
  async mint(
    by: Caller | null,
    { name, lifetimeSeconds, restrictions }: NewKey,
  ): Promise<{ key: Credential; secret: string }> {
    const { accountId } = authorize(by, permissions.mintKeys);
    return this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.mintKeys);
      const { token, digest, hint } = this.tokens.issue('api_key');
      const createdAt = this.clock.now();
      const minted = { accountId, kind: 'api_key', origin: 'minted', now: createdAt } as const;
      if ((await this.credentials.list(minted)).length >= MOST_KEYS) {
        throw new LimitReached(MOST_KEYS, 'API keys of your account');
      }
      const expiresAt = lifetimeSeconds === null ? null : new Date(createdAt.getTime() + lifetimeSeconds * 1000);
      const about = { id: this.ids.next('key'), accountId, digest, hint, name, createdAt, expiresAt, ...restrictions };
      const key = Credential.apiKey({ ...about, origin: 'minted' });
      await this.requireProjects(actor, key);
      await this.credentials.add(key);
      await this.limits.save(key, actor.teamId);
      const details = KeyRestrictions.areNone(key) ? {} : detailsOf(key);
      await this.audit.record({ by: actor, action: 'api_key.minted', object: key, details });
      return { key, secret: token };
    }, `keys of ${accountId}`);
  }

  /** Lists the account's unexpired keys, newest first. */
  async list(by: Caller | null, { page }: { page: Page }): Promise<Credential[]> {
    const { accountId } = authorize(by, permissions.ownAccount);
    return this.credentials.list({ accountId, kind: 'api_key', now: this.clock.now() }, page);
  }

  /** Throws NotFound, also for another account's key. */
  async read(by: Caller | null, { id }: OfKey): Promise<Credential> {
    return this.find(authorize(by, permissions.ownAccount), id);
  }

  /**
   * Changes the name and the restrictions of a key, for each call that follows on any instance. Ends calls that the key may
   * no longer make within two seconds. Throws NotFound, StaleVersion, InvalidRequest.
   */
  async change(by: Caller | null, { id, expected, change }: Editing): Promise<Credential> {
    const { accountId } = authorize(by, permissions.mintKeys);
    return this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.mintKeys);
      const current = await this.find(actor, id);
      const next = Credential.changed(current, expected, change);
      if (change.projects !== undefined) await this.requireProjects(actor, next);
      // A concurrent change breaks the transaction, so only a revocation can come between.
      if (!(await this.credentials.replace(current, next))) throw new NotFound('key');
      await this.limits.save(next, actor.teamId);
      const details = { version: next.version, ...detailsOf(next) };
      await this.audit.record({ by: actor, action: 'api_key.changed', object: next, details });
      return next;
    }, `keys of ${accountId}`);
  }

  /** Revokes a key of the account on every instance at once. Throws NotFound, also for another account's key. */
  async revoke(by: Caller | null, { id }: OfKey): Promise<void> {
    await this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.ownAccount);
      const removed = await this.credentials.remove({ accountId: actor.accountId, kind: 'api_key', id });
      if (!removed) throw new NotFound('key');
      await this.audit.record({ by: actor, action: 'api_key.revoked', object: { id } });
    });
  }

  private async find({ accountId }: AccountCaller, id: string): Promise<Credential> {
    const key = await this.credentials.find({ accountId, kind: 'api_key', id }, this.clock.now());
    if (!key) throw new NotFound('key');
    return key;
  }

  private async requireProjects({ teamId }: AccountCaller, { projects }: KeyRestrictions): Promise<void> {
    if (!projects) return;
    const own = new Set((await this.projects.names(teamId, projects.length, projects)).map(({ id }) => id));
    const findings = projects.flatMap((id, at) =>
      own.has(id) ? [] : [{ path: `projects.${at}`, message: 'must be the id of a project of the team' }],
    );
    if (findings.length > 0) throw new InvalidRequest(findings);
  }
}

/** The audit trail has only single values. */
const detailsOf = ({ projects, permissions: own, ...limits }: KeyRestrictions): AuditDetails => ({
  projects: projects?.join(' ') ?? null,
  permissions: own?.join(' ') ?? null,
  requests_per_minute: limits.requestsPerMinute,
  tokens_per_minute: limits.tokensPerMinute,
  max_concurrent: limits.maxConcurrent,
});
