import { z } from 'zod';
import { accountLimits } from '../../../domain/accounts/account.js';
import { roles } from '../../../domain/accounts/caller.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { Deleted, id, intLike, namedObject, secret, Timestamp, text, textLike, truth, visible } from '../schemas.js';

const api = contractsOf('Team accounts');
const { name, email, passwordMin, passwordMax } = accountLimits;

const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';

const Name = text().meta({
  ...visible(name),
  pattern: `^\\s*[^\\s${CONTROL}][^${CONTROL}]*\\s*$`,
  description: `1 to ${name} characters, one of them visible and none a control character. White space around them is dropped.`,
  example: 'Ada Lovelace',
});

const EXAMPLE = 'ada@example.com';

/** Accepts any text: the answer does not depend on the form of the address. */
const AnyEmail = text().meta({ description: 'Letter case does not matter.', example: EXAMPLE });

export const Email = text().meta({
  format: 'email',
  minLength: 3,
  maxLength: email,
  description: `At most ${email} characters. Letter case does not matter.`,
  example: EXAMPLE,
});

const NewPassword = text().meta({
  minLength: passwordMin,
  maxLength: passwordMax,
  description: `${passwordMin} to ${passwordMax} characters. Very common passwords can be refused, too.`,
  example: 'correct horse battery',
});

const mailedToken = `tnv_${'Example'.repeat(7)}`;

const RevokeKeys = truth()
  .default(false)
  .describe('Also revokes the keys that `POST /v1/keys` made, not only those of registrations and logins.');

export const UserAnswer = namedObject('User', {
  id: id('usr'),
  name: textLike('Ada Lovelace'),
  email: textLike('ada@example.com'),
  role: z.enum(roles),
  email_verified: z.boolean(),
  created_at: Timestamp,
});

const OwnUserAnswer = UserAnswer.extend({
  alert_emails: z.boolean().describe('Whether you get an e-mail when an alert fires.'),
}).meta({ id: 'OwnUser' });

const SignedInAnswer = namedObject('SignedIn', {
  user: UserAnswer,
  token: secret('tns').describe('A session token, valid for 30 days. Shown only once.'),
  api_key: secret('tnk')
    .nullable()
    .describe('A new API key. Earlier ones stay valid. Shown only once. Null if the login asked for none.'),
});

export const register = api.post('/v1/auth/register', {
  id: 'register',
  summary: 'Register an account',
  description:
    'The first account of a deployment is admin of its operator team. Later ones join it as members. An account with an ' +
    'invite gets its role in the team of the inviter. The service sends a verification e-mail. With `SERVICE_REGISTRATION=invite` the ' +
    'first account is registered with the master key as the Bearer credential.',
  access: 'public',
  uses: ['master'],
  body: namedObject('Registration', {
    name: Name,
    email: Email,
    password: NewPassword,
    invite_token: text().nullish().describe('The token of an invite. `invite` means the same.'),
    invite: text().nullish().describe('The same as `invite_token`.'),
  }),
  status: 201,
  answer: SignedInAnswer,
  refusals: [
    'email_taken',
    'registration_closed',
    'invite_not_found',
    'invite_email_mismatch',
    'invite_redeemed',
    'invite_revoked',
    'invite_expired',
    'busy',
  ],
});

export const verifyEmail = api.post('/v1/auth/verify-email', {
  id: 'verifyEmail',
  summary: 'Confirm an e-mail address',
  access: 'public',
  body: namedObject('Token', {
    token: text().meta({ description: 'The token of the verification e-mail.', example: mailedToken }),
  }),
  answer: UserAnswer,
  refusals: ['token_not_found', 'token_used', 'token_expired'],
});

export const login = api.post('/v1/auth/login', {
  id: 'login',
  summary: 'Log in',
  description:
    'Opens a session of 30 days and mints a new API key. The key is removed if nobody uses it within 30 days. ' +
    '`api_key: false` mints none.',
  access: 'public',
  body: namedObject('Login', {
    email: AnyEmail,
    password: text().meta({ description: 'The password of the account.', example: 'correct horse battery' }),
    api_key: truth().default(true).describe('Whether to mint an API key.'),
  }),
  answer: SignedInAnswer,
  refusals: ['invalid_credentials', 'busy'],
});

export const me = api.get('/v1/auth/me', {
  id: 'readOwnAccount',
  summary: 'Read your own account',
  access: permissions.ownAccount,
  answer: OwnUserAnswer,
});

export const logout = api.post('/v1/auth/logout', {
  id: 'logout',
  summary: 'Log out',
  description: 'Ends the session of this call.',
  access: permissions.ownAccount,
  answer: Deleted,
});

const Accepted = namedObject('Accepted', { accepted: z.literal(true) });

export const status = api.get('/v1/auth/status', {
  id: 'readAuthStatus',
  summary: 'Read how many accounts there are and whether registration is open',
  access: 'public',
  answer: namedObject('AuthStatus', {
    account_count: intLike(1),
    max_accounts: intLike(3),
    registration_open: z.boolean(),
  }),
});

export const resendVerification = api.post('/v1/auth/verify-email/resend', {
  id: 'resendVerification',
  summary: 'Send another verification e-mail',
  description: 'Sends nothing if the e-mail is verified already.',
  access: permissions.ownAccount,
  answer: UserAnswer,
});

export const forgotPassword = api.post('/v1/auth/password/forgot', {
  id: 'forgotPassword',
  summary: 'Request an e-mail for choosing a new password',
  description: 'Answers the same whether or not there is such an account.',
  access: 'public',
  body: namedObject('PasswordForgotten', { email: AnyEmail }),
  answer: Accepted,
});

export const resetPassword = api.post('/v1/auth/password/reset', {
  id: 'resetPassword',
  summary: 'Choose a new password with the token of the e-mail',
  description: 'Ends every session of the account and revokes the API keys that registrations and logins returned.',
  access: 'public',
  body: namedObject('PasswordReset', {
    token: text().meta({ description: 'The token of the e-mail.', example: mailedToken }),
    password: NewPassword,
    revoke_keys: RevokeKeys,
  }),
  answer: UserAnswer,
  refusals: ['token_not_found', 'token_used', 'token_expired', 'busy'],
});

export const updateMe = api.patch('/v1/auth/me', {
  id: 'updateOwnAccount',
  summary: 'Change your name, your password or your e-mails',
  description:
    'A new password ends your other sessions and revokes the API keys that registrations and logins returned. `alert_emails` ' +
    'works for admins and developers of the operator team with a verified e-mail.',
  access: permissions.ownAccount,
  body: z
    .object({
      name: Name.optional(),
      alert_emails: truth().optional().describe('Whether to get an e-mail when an alert fires.'),
      password: NewPassword.optional(),
      current_password: text().optional().describe('Required with `password`.'),
      revoke_keys: RevokeKeys,
    })
    .meta({
      id: 'OwnAccountUpdate',
      dependentRequired: { password: ['current_password'] },
      example: { name: 'Ada King' },
    }),
  answer: OwnUserAnswer,
  refusals: ['wrong_password', 'busy'],
});

export const siteLogin = api.post('/v1/auth/site-login', {
  id: 'siteLogin',
  summary: 'Sign in with a token of the embedding site',
  description:
    'The token is a JWT that the site signed: HS256 with the shared secret, or RS256 or ES256 with a key of its key set. ' +
    'Required claims: `iss`, `aud`, `exp`, `jti` (usable once), `email`. Optional claims: `email_verified`, `name`, ' +
    '`team`. An unknown account is created.',
  access: 'public',
  body: namedObject('SiteLogin', {
    token: text().meta({ description: 'The JWT.', example: 'eyJhbGciOiJIUzI1NiJ9.eyJlbWFpbCI6Imdy….c2lnbmF0dXJl' }),
  }),
  answer: SignedInAnswer,
  refusals: ['site_login_disabled', 'invalid_credentials', 'email_taken', 'registration_closed'],
});
