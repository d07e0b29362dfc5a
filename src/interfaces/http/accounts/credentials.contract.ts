import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { atMost } from '../../../domain/shared/text.js';
import { contract } from '../contract.js';
import { Page } from '../paging.js';
import { Count, Deleted, id, pageOfList, secret, Timestamp, text, wholeNumber } from '../schemas.js';

const tag = 'Team accounts';
const LONGEST_S = 10 * 365 * 24 * 60 * 60;
const NAME_LENGTH = 100;

const KeyAnswer = z
  .object({
    id: id('key'),
    name: z.string().nullable().meta({ example: 'nightly evaluation' }),
    hint: z
      .string()
      .meta({ description: 'The prefix and the end of the key, for recognizing it.', example: 'tnk_…q7Rz' }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable().meta({ description: 'To the minute. Null if the key was never used.' }),
    expires_at: Timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

export const mintKey = contract({
  id: 'mintKey',
  method: 'post',
  path: '/v1/keys',
  tag,
  summary: 'Mint an API key',
  access: permissions.mintKeys,
  body: z
    .object({
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
        .meta({ description: `Seconds, 1 to ${LONGEST_S}. Without it the key does not expire.` }),
    })
    .meta({ id: 'KeyCreation' }),
  bodyOptional: true,
  status: 201,
  answer: KeyAnswer.extend({ key: secret('tnk').meta({ description: 'The key. Shown only once.' }) }).meta({
    id: 'NewApiKey',
  }),
  refusals: ['email_unverified'],
});

export const listKeys = contract({
  id: 'listKeys',
  method: 'get',
  path: '/v1/keys',
  tag,
  summary: 'List your own API keys, newest first',
  access: permissions.ownAccount,
  query: Page,
  answer: pageOfList('keys', KeyAnswer, 'ApiKeys'),
});

export const revokeKey = contract({
  id: 'revokeKey',
  method: 'delete',
  path: '/v1/keys/{key_id}',
  tag,
  summary: 'Revoke an API key',
  access: permissions.ownAccount,
  answer: Deleted,
});

export const listSessions = contract({
  id: 'listSessions',
  method: 'get',
  path: '/v1/auth/sessions',
  tag,
  summary: 'List your own sessions, newest first',
  access: permissions.ownAccount,
  answer: z
    .object({
      sessions: z.array(
        z
          .object({
            id: id('ses'),
            current: z.boolean().meta({ description: 'Whether this is the session of the call.' }),
            created_at: Timestamp,
            last_used_at: Timestamp.nullable(),
            expires_at: Timestamp,
          })
          .meta({ id: 'Session' }),
      ),
      count: Count,
    })
    .meta({ id: 'Sessions' }),
});

export const endSession = contract({
  id: 'endSession',
  method: 'delete',
  path: '/v1/auth/sessions/{session_id}',
  tag,
  summary: 'End one of your sessions',
  access: permissions.ownAccount,
  answer: Deleted,
});
