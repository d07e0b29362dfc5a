import { z } from 'zod';
import { keyLimits, keyPermissions } from '../../../domain/accounts/key-restrictions.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { atMost } from '../../../domain/shared/text.js';
import { contractsOf } from '../contract.js';
import { listOf, Page, pageOfList } from '../paging.js';
import {
  choice,
  Deleted,
  id,
  idText,
  namedObject,
  secret,
  Timestamp,
  text,
  textLike,
  Version,
  VersionNumber,
  wholeNumber,
} from '../schemas.js';

const api = contractsOf('Team accounts');
const LONGEST_S = 10 * 365 * 24 * 60 * 60;
const NAME_LENGTH = 100;

/** The restrictions of a key in answers. Null: the key does not have this restriction. */
export const restrictionFields = {
  projects: z.array(id('prj')).nullable().describe('The only projects that the key is for. Null: all of the team.'),
  permissions: z
    .array(z.enum(keyPermissions))
    .nullable()
    .describe('The only permissions of the key. Null: all that its owner may, on the routes that take such keys.'),
  requests_per_minute: z
    .int()
    .nullable()
    .meta({ description: 'Counted by each instance, or by all together if the operator has set it.', example: 60 }),
  tokens_per_minute: z
    .int()
    .nullable()
    .meta({ description: 'Counted by all instances together, in each minute of the clock.', example: 20_000 }),
  max_concurrent: z
    .int()
    .nullable()
    .meta({ description: 'The calls of models that run at the same time, on all instances.', example: 4 }),
};

export const KeyAnswer = namedObject('ApiKey', {
  id: id('key'),
  name: textLike('nightly evaluation').nullable(),
  hint: textLike('tnk_…q7Rz', 'The prefix and the end of the key, for recognizing it.'),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('To the minute. Null if the key was never used.'),
  expires_at: Timestamp.nullable(),
  version: VersionNumber,
  ...restrictionFields,
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

const Name = text()
  .refine((name) => atMost(name, NAME_LENGTH) && !/\p{Cc}/u.test(name), {
    error: `must have at most ${NAME_LENGTH} characters, none of them a control character`,
  })
  .nullish()
  .meta({
    maxLength: NAME_LENGTH,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: `At most ${NAME_LENGTH} characters, none of them a control character.`,
    example: 'nightly evaluation',
  });

const listOfSome = <Item extends z.ZodType>(item: Item, most: number) => {
  const error = `must be a list of 1 to ${most} values`;
  return z.array(item, { error }).min(1, { error }).max(most, { error });
};

/** The restrictions of a key in requests. Null: the key does not have this restriction. */
const sentRestrictions = {
  projects: listOfSome(idText('prj'), keyLimits.projects)
    .nullish()
    .meta({
      description:
        'The ids of the only projects that the key is for. Such a key reads and changes nothing outside them, and does not predict, because deployments belong to no project.',
      example: ['prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'],
    }),
  permissions: listOfSome(choice(keyPermissions), keyPermissions.length)
    .nullish()
    .meta({
      description:
        '`chat`: chats, embeddings and responses. `predict`: predictions. `read`: what its owner may read of the workspace, jobs, usage, budgets and monitoring. `write`: also what its owner may change there.',
      example: ['chat', 'read'],
    }),
  requests_per_minute: wholeNumber(1, keyLimits.requestsPerMinute)
    .nullish()
    .describe(
      'The most requests in a minute, besides the limit of all callers. Each instance counts for itself, or all count together if the operator has set it.',
    ),
  tokens_per_minute: wholeNumber(1, keyLimits.tokensPerMinute)
    .nullish()
    .describe(
      'The most tokens of the calls of models in each minute of the clock, on all instances. As with a budget, a call holds what it can take at most, and an answer without a bound is cut to what is left.',
    ),
  max_concurrent: wholeNumber(1, keyLimits.maxConcurrent)
    .nullish()
    .describe('The most calls of models that run at the same time, on all instances.'),
};

const Sessions = listOf('sessions', SessionAnswer, 'Sessions');

export const mintKey = api.post('/v1/keys', {
  id: 'mintKey',
  summary: 'Mint an API key',
  description:
    'An account has at most 100 keys that were minted here. A key never may more than its owner: restrictions only take ' +
    'away. What a key may not do is refused with 403 `key_restricted`, and what its limits have no room for with 429 ' +
    '`rate_limited`. A key with the permission `read` or `write` also enters the workspace and the budgets, where other keys are ' +
    'refused. No key enters the routes of accounts, sessions, keys and invites.',
  access: permissions.mintKeys,
  body: namedObject('KeyCreation', {
    name: Name,
    expires_in: wholeNumber(1, LONGEST_S)
      .nullish()
      .describe(`Seconds, 1 to ${LONGEST_S}. Without it the key does not expire.`),
    ...sentRestrictions,
  }),
  bodyOptional: true,
  versioned: true,
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

export const readKey = api.get('/v1/keys/{key_id}', {
  id: 'readKey',
  summary: 'Read one of your own API keys',
  access: permissions.ownAccount,
  versioned: true,
  answer: KeyAnswer,
});

export const changeKey = api.patch('/v1/keys/{key_id}', {
  id: 'changeKey',
  summary: 'Change the name or the restrictions of an API key',
  description:
    'An absent field stays as it is, and null removes a restriction. The change holds for each call that follows. A running ' +
    'call that the key may no longer make ends within two seconds. Limits count from the next call on.',
  access: permissions.mintKeys,
  body: z.object({ version: Version, name: Name, ...sentRestrictions }).meta({
    id: 'KeyChange',
    required: ['version'],
    example: { version: 1, permissions: ['chat'], max_concurrent: 4 },
  }),
  versioned: true,
  answer: KeyAnswer,
  refusals: ['email_unverified', 'stale_version'],
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
