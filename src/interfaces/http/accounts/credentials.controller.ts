import { injectable } from 'inversify';
import { ApiKeyService } from '../../../application/accounts/api-key.service.js';
import { SessionService } from '../../../application/accounts/session.service.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import type { Credential } from '../../../domain/accounts/credential.js';
import { KeyRestrictions } from '../../../domain/accounts/key-restrictions.js';
import { answerFrom, deleted, hidden, listed, paged } from '../answers.js';
import { type CallOf, type Controller, type Existence, route } from '../contract.js';
import { onePage, pageOf } from '../paging.js';
import { expectedVersions, seconds } from '../schemas.js';
import * as contracts from './credentials.contract.js';

@injectable()
export class CredentialsController implements Controller {
  readonly routes = [
    route(contracts.mintKey, async ({ caller, body: { name, expires_in, ...sent } }) => {
      const restrictions = { ...KeyRestrictions.NONE, ...restrictionsOf(sent) };
      const input = { name: name || null, lifetimeSeconds: expires_in ?? null, restrictions };
      const { key, secret } = await this.keys.mint(caller, input);
      return { ...keyAnswer(key), key: secret };
    }),
    route(contracts.listKeys, async ({ caller, query }) => {
      const found = await this.keys.list(caller, { page: pageOf(query) });
      return paged('keys', onePage(found, query), keyAnswer);
    }),
    route(contracts.readKey, async ({ caller, params }) =>
      keyAnswer(await this.keys.read(caller, { id: params.key_id })),
    ),
    route(contracts.changeKey, async ({ caller, params, body: { version, name, ...sent }, ifMatch }) => {
      const expected = expectedVersions([version], ifMatch);
      const change = { ...(name !== undefined && { name: name || null }), ...restrictionsOf(sent) };
      return keyAnswer(await this.keys.change(caller, { id: params.key_id, expected, change }));
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

  readonly exists: Existence<'key_id'> = {
    key_id: ({ caller, params }) => this.keys.read(caller, { id: params.key_id }),
  };

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

type SentRestrictions = Omit<CallOf<typeof contracts.changeKey>['body'], 'version' | 'name'>;

/** Returns the restrictions that the caller has sent. */
function restrictionsOf(sent: SentRestrictions): Partial<KeyRestrictions> {
  const { projects, permissions, requests_per_minute, tokens_per_minute, max_concurrent } = sent;
  return {
    ...(projects !== undefined && { projects }),
    ...(permissions !== undefined && { permissions }),
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
    ...(max_concurrent !== undefined && { maxConcurrent: max_concurrent }),
  };
}

const hiddenFields = { kind: hidden, account_id: hidden, digest: hidden, origin: hidden } as const;

const noRestrictions = {
  projects: hidden,
  permissions: hidden,
  requests_per_minute: hidden,
  tokens_per_minute: hidden,
  max_concurrent: hidden,
  version: hidden,
} as const;

const keyAnswer = (key: Credential) =>
  answerFrom(contracts.KeyAnswer, key, { ...hiddenFields, address: hidden, user_agent: hidden });

const sessionAnswer = (session: Credential, currentId: string) =>
  answerFrom(contracts.SessionAnswer, session, {
    ...hiddenFields,
    name: hidden,
    hint: hidden,
    ...noRestrictions,
    current: session.id === currentId,
    expires_at: seconds(session.expiresAt ?? session.createdAt),
  });
