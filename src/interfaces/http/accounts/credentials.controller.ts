import { injectable } from 'inversify';
import { ApiKeyService } from '../../../application/accounts/api-key.service.js';
import { SessionService } from '../../../application/accounts/session.service.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import type { Credential } from '../../../domain/accounts/credential.js';
import { answerFrom, deleted, hidden, listed, paged } from '../answers.js';
import { type Controller, route } from '../contract.js';
import { onePage, pageOf } from '../paging.js';
import { seconds } from '../schemas.js';
import * as contracts from './credentials.contract.js';

@injectable()
export class CredentialsController implements Controller {
  readonly routes = [
    route(contracts.mintKey, async ({ caller, body: { name, expires_in } }) => {
      const input = { name: name || null, lifetimeSeconds: expires_in ?? null };
      const { key, secret } = await this.keys.mint(caller, input);
      return { ...keyAnswer(key), key: secret };
    }),
    route(contracts.listKeys, async ({ caller, query }) => {
      const found = await this.keys.list(caller, { page: pageOf(query) });
      return paged('keys', onePage(found, query), keyAnswer);
    }),
    route(contracts.revokeKey, ({ caller, params: { key_id: id } }) => deleted(id, this.keys.revoke(caller, { id }))),
    route(contracts.endOtherSessions, async ({ caller }) => {
      await this.sessions.endOthers(caller);
      return this.sessionsOf(caller);
    }),
    route(contracts.listSessions, ({ caller }) => this.sessionsOf(caller)),
    route(contracts.endSession, ({ caller, params: { session_id: id } }) =>
      deleted(id, this.sessions.end(caller, { id })),
    ),
  ];

  constructor(
    private readonly keys: ApiKeyService,
    private readonly sessions: SessionService,
  ) {}

  private async sessionsOf(caller: Caller | null) {
    const { sessions, currentId } = await this.sessions.list(caller);
    return listed(
      'sessions',
      sessions.map((session) => sessionAnswer(session, currentId)),
    );
  }
}

const hiddenFields = { kind: hidden, account_id: hidden, digest: hidden, origin: hidden } as const;

const keyAnswer = (key: Credential) =>
  answerFrom(contracts.KeyAnswer, key, { ...hiddenFields, address: hidden, user_agent: hidden });

const sessionAnswer = (session: Credential, currentId: string) =>
  answerFrom(contracts.SessionAnswer, session, {
    ...hiddenFields,
    name: hidden,
    hint: hidden,
    current: session.id === currentId,
    expires_at: seconds(session.expiresAt ?? session.createdAt),
  });
