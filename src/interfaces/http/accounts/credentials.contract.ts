import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { atMost } from '../../../domain/shared/text.js';
import { contractsOf } from '../contract.js';
import { listOf, Page, pageOfList } from '../paging.js';
import { Deleted, id, namedObject, secret, Timestamp, text, textLike, wholeNumber } from '../schemas.js';

const api = contractsOf('Team accounts');
const LONGEST_S = 10 * 365 * 24 * 60 * 60;
const NAME_LENGTH = 100;

export const KeyAnswer = namedObject('ApiKey', {
  id: id('key'),
  name: textLike('nightly evaluation').nullable(),
  hint: textLike('tnk_…q7Rz', 'The prefix and the end of the key, for recognizing it.'),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('To the minute. Null if the key was never used.'),
  expires_at: Timestamp.nullable(),
});

export const SessionAnswer = namedObject('Session', {
  id: id('ses'),
  current: z.boolean().describe('Whether this is the session of the call.'),
  user_agent: textLike('Mozilla/5.0 …', 'The `User-Agent` of the sign-in.').nullable(),
  address: textLike('192.0.2.7', 'The network address of the sign-in.').nullable(),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  expires_at: Timestamp,
});

const Sessions = listOf('sessions', SessionAnswer, 'Sessions');

export const mintKey = api.post('/v1/keys', {
  id: 'mintKey',
  summary: 'Mint an API key',
  description: 'An account has at most 100 keys that were minted here.',
  access: permissions.mintKeys,
  body: namedObject('KeyCreation', {
    name: text()
      .refine((name) => atMost(name, NAME_LENGTH) && !/\p{Cc}/u.test(name), {
        error: `must have at most ${NAME_LENGTH} characters, none of them a control character`,
      })
      .nullish()
      .meta({
        maxLength: NAME_LENGTH,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
        description: `At most ${NAME_LENGTH} characters, none of them a control character.`,
        example: 'nightly evaluation',
      }),
    expires_in: wholeNumber(1, LONGEST_S)
      .nullish()
      .describe(`Seconds, 1 to ${LONGEST_S}. Without it the key does not expire.`),
  }),
  bodyOptional: true,
  status: 201,
  answer: KeyAnswer.extend({ key: secret('tnk').describe('The key. Shown only once.') }).meta({
    id: 'NewApiKey',
  }),
  refusals: ['email_unverified'],
});

export const listKeys = api.get('/v1/keys', {
  id: 'listKeys',
  summary: 'List your own API keys, newest first',
  access: permissions.ownAccount,
  query: Page,
  answer: pageOfList('keys', KeyAnswer, 'ApiKeys'),
});

export const revokeKey = api.delete('/v1/keys/{key_id}', {
  id: 'revokeKey',
  summary: 'Revoke an API key',
  access: permissions.ownAccount,
  answer: Deleted,
});

export const listSessions = api.get('/v1/auth/sessions', {
  id: 'listSessions',
  summary: 'List your own sessions, newest first, at most 1000',
  access: permissions.ownAccount,
  answer: Sessions,
});

export const endOtherSessions = api.post('/v1/auth/sessions/end-others', {
  id: 'endOtherSessions',
  summary: 'End all your sessions except the one of this call',
  access: permissions.ownAccount,
  answer: Sessions,
});

export const endSession = api.delete('/v1/auth/sessions/{session_id}', {
  id: 'endSession',
  summary: 'End one of your sessions',
  access: permissions.ownAccount,
  answer: Deleted,
});
