import { injectable } from 'inversify';
import { ApiKeyService } from '../../../application/accounts/api-key.service.js';
import { SessionService } from '../../../application/accounts/session.service.js';
import type { Credential } from '../../../domain/accounts/credential.js';
import { type Controller, route } from '../contract.js';
import { paged, pageOf } from '../paging.js';
import { deleted, seconds, secondsOrNull } from '../schemas.js';
import * as contracts from './credentials.contract.js';

/** The caller's own API keys and sessions. */
@injectable()
export class CredentialsController implements Controller {
  readonly routes = [
    route(contracts.mintKey, async ({ caller, body: { name, expires_in } }) => {
      const input = { name: name || null, lifetimeSeconds: expires_in ?? null };
      const { key, secret } = await this.keys.mint(caller, input);
      return { ...keyAnswer(key), key: secret };
    }),
    route(contracts.listKeys, async ({ caller, query }) => {
      const { items, ...page } = paged(await this.keys.list(caller, pageOf(query)), query);
      return { keys: items.map(keyAnswer), ...page };
    }),
    route(contracts.revokeKey, async ({ caller, params: { key_id: id } }) => {
      await this.keys.revoke(caller, id);
      return deleted(id);
    }),
    route(contracts.listSessions, async ({ caller }) => {
      const { sessions, currentId } = await this.sessions.list(caller);
      return { sessions: sessions.map((session) => sessionAnswer(session, currentId)), count: sessions.length };
    }),
    route(contracts.endSession, async ({ caller, params: { session_id: id } }) => {
      await this.sessions.end(caller, id);
      return deleted(id);
    }),
  ];

  constructor(
    private readonly keys: ApiKeyService,
    private readonly sessions: SessionService,
  ) {}
}

const keyAnswer = ({ id, name, hint, createdAt, lastUsedAt, expiresAt }: Credential) => ({
  id,
  name,
  hint,
  created_at: seconds(createdAt),
  last_used_at: secondsOrNull(lastUsedAt),
  expires_at: secondsOrNull(expiresAt),
});

const sessionAnswer = ({ id, createdAt, lastUsedAt, expiresAt }: Credential, currentId: string) => ({
  id,
  current: id === currentId,
  created_at: seconds(createdAt),
  last_used_at: secondsOrNull(lastUsedAt),
  expires_at: seconds(expiresAt ?? createdAt),
});
