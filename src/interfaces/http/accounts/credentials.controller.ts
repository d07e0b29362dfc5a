import { injectable } from 'inversify';
import { EndCredential } from '../../../application/accounts/end-credential.js';
import { ListCredentials } from '../../../application/accounts/list-credentials.js';
import { MintKey } from '../../../application/accounts/mint-key.js';
import type { Credential } from '../../../domain/accounts/credential.js';
import { type Controller, route } from '../contract.js';
import { paged, pageOf } from '../paging.js';
import { deleted, seconds, secondsOrNull } from '../schemas.js';
import * as contracts from './credentials.contract.js';

/** One's own API keys and sessions. */
@injectable()
export class CredentialsController implements Controller {
  readonly routes = [
    route(contracts.mintKey, async ({ caller, body: { name, expires_in } }) => {
      const input = { by: caller, name: name || null, lifetimeSeconds: expires_in ?? null };
      const { key, secret } = await this.mintKey.execute(input);
      return { ...keyAnswer(key), key: secret };
    }),
    route(contracts.listKeys, async ({ caller, query }) => {
      const input = { by: caller, kind: 'api_key' as const, page: pageOf(query) };
      const { credentials } = await this.listCredentials.execute(input);
      const { items, ...page } = paged(credentials, query);
      return { keys: items.map(keyAnswer), ...page };
    }),
    route(contracts.revokeKey, async ({ caller, params: { key_id: id } }) => {
      await this.endCredential.execute({ by: caller, kind: 'api_key', id });
      return deleted(id);
    }),
    route(contracts.listSessions, async ({ caller }) => {
      const { credentials, currentId } = await this.listCredentials.execute({ by: caller, kind: 'session' });
      const sessions = credentials.map((session) => sessionAnswer(session, currentId));
      return { sessions, count: sessions.length };
    }),
    route(contracts.endSession, async ({ caller, params: { session_id: id } }) => {
      await this.endCredential.execute({ by: caller, kind: 'session', id });
      return deleted(id);
    }),
  ];

  constructor(
    private readonly mintKey: MintKey,
    private readonly listCredentials: ListCredentials,
    private readonly endCredential: EndCredential,
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
