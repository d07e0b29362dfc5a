import { z } from 'zod';
import { roles } from '../../../domain/accounts/caller.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { Deleted, id, secret, Timestamp, text, truth } from '../schemas.js';
import { AnyEmail, Email, mailedToken, Name, NewPassword, RevokeKeys } from './account-fields.js';

const tag = 'Team accounts';

export const UserAnswer = z
  .object({
    id: id('usr'),
    name: z.string().meta({ example: 'Ada Lovelace' }),
    email: z.string().meta({ example: 'ada@example.com' }),
    role: z.enum(roles),
    email_verified: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'User' });

const OwnUserAnswer = UserAnswer.extend({
  alert_emails: z.boolean().meta({ description: 'Whether you get an e-mail when an alert fires.' }),
}).meta({ id: 'OwnUser' });

export const SignedInAnswer = z
  .object({
    user: UserAnswer,
    token: secret('tns').meta({ description: 'A session token, valid for 30 days. Shown only once.' }),
    api_key: secret('tnk').meta({ description: 'A new API key. Earlier ones stay valid. Shown only once.' }),
  })
  .meta({ id: 'SignedIn' });

export const register = contract({
  id: 'register',
  method: 'post',
  path: '/v1/auth/register',
  tag,
  summary: 'Register an account',
  description:
    'The first account of a deployment is admin of its operator team. Later ones join it as members. An invite gives its ' +
    'role in the team of the inviter. The service sends a verification e-mail. With `SERVICE_REGISTRATION=invite` the ' +
    'first account is registered with the master key as the Bearer credential.',
  access: 'public',
  uses: ['master'],
  body: z
    .object({
      name: Name,
      email: Email,
      password: NewPassword,
      invite_token: text().nullish().meta({ description: 'The token of an invite. `invite` means the same.' }),
      invite: text().nullish().meta({ description: 'The same as `invite_token`.' }),
    })
    .meta({ id: 'Registration' }),
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

export const verifyEmail = contract({
  id: 'verifyEmail',
  method: 'post',
  path: '/v1/auth/verify-email',
  tag,
  summary: 'Confirm an e-mail address',
  access: 'public',
  body: z
    .object({ token: text().meta({ description: 'The token of the verification e-mail.', example: mailedToken }) })
    .meta({ id: 'Token' }),
  answer: UserAnswer,
  refusals: ['token_not_found', 'token_used', 'token_expired'],
});

export const login = contract({
  id: 'login',
  method: 'post',
  path: '/v1/auth/login',
  tag,
  summary: 'Log in',
  description: 'Opens a session of 30 days and mints a new API key.',
  access: 'public',
  body: z
    .object({
      email: AnyEmail,
      password: text().meta({ description: 'The password of the account.', example: 'correct horse battery' }),
    })
    .meta({ id: 'Login' }),
  answer: SignedInAnswer,
  refusals: ['invalid_credentials', 'busy'],
});

export const me = contract({
  id: 'readOwnAccount',
  method: 'get',
  path: '/v1/auth/me',
  tag,
  summary: 'Read your own account',
  access: permissions.ownAccount,
  answer: OwnUserAnswer,
});

export const logout = contract({
  id: 'logout',
  method: 'post',
  path: '/v1/auth/logout',
  tag,
  summary: 'Log out',
  description: 'Ends the session of this call.',
  access: permissions.ownAccount,
  answer: Deleted,
});

const Accepted = z.object({ accepted: z.literal(true) }).meta({ id: 'Accepted' });

export const status = contract({
  id: 'readAuthStatus',
  method: 'get',
  path: '/v1/auth/status',
  tag,
  summary: 'Read how many accounts there are and whether registration is open',
  access: 'public',
  answer: z
    .object({ account_count: z.int(), max_accounts: z.int(), registration_open: z.boolean() })
    .meta({ id: 'AuthStatus', example: { account_count: 1, max_accounts: 3, registration_open: true } }),
});

export const resendVerification = contract({
  id: 'resendVerification',
  method: 'post',
  path: '/v1/auth/verify-email/resend',
  tag,
  summary: 'Send another verification e-mail',
  description: 'Sends nothing if the e-mail is verified already.',
  access: permissions.ownAccount,
  answer: UserAnswer,
});

export const forgotPassword = contract({
  id: 'forgotPassword',
  method: 'post',
  path: '/v1/auth/password/forgot',
  tag,
  summary: 'Request an e-mail for choosing a new password',
  description: 'Answers the same whether or not there is such an account.',
  access: 'public',
  body: z.object({ email: AnyEmail }).meta({ id: 'PasswordForgotten' }),
  answer: Accepted,
});

export const resetPassword = contract({
  id: 'resetPassword',
  method: 'post',
  path: '/v1/auth/password/reset',
  tag,
  summary: 'Choose a new password with the token of the e-mail',
  description: 'Ends every session of the account and revokes the keys that registrations and logins minted.',
  access: 'public',
  body: z
    .object({
      token: text().meta({ description: 'The token of the e-mail.', example: mailedToken }),
      password: NewPassword,
      revoke_keys: RevokeKeys,
    })
    .meta({ id: 'PasswordReset' }),
  answer: UserAnswer,
  refusals: ['token_not_found', 'token_used', 'token_expired', 'busy'],
});

export const updateMe = contract({
  id: 'updateOwnAccount',
  method: 'patch',
  path: '/v1/auth/me',
  tag,
  summary: 'Change your name, your password or your e-mails',
  description:
    'A new password ends your other sessions and revokes the keys that registrations and logins minted. `alert_emails` ' +
    'works for admins and developers of the operator team whose e-mail is verified.',
  access: permissions.ownAccount,
  body: z
    .object({
      name: Name.optional(),
      alert_emails: truth().optional().meta({ description: 'Whether to get an e-mail when an alert fires.' }),
      password: NewPassword.optional(),
      current_password: text().optional().meta({ description: 'Required with `password`.' }),
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

export const siteLogin = contract({
  id: 'siteLogin',
  method: 'post',
  path: '/v1/auth/site-login',
  tag,
  summary: 'Sign in with a token of the embedding site',
  description:
    'The token is a JWT that the site signed: HS256 with the shared secret, or RS256 or ES256 with a key of its key set. ' +
    'Required claims: `iss`, `aud`, `exp`, `jti` (usable once), `email`. Optional claims: `email_verified`, `name`, ' +
    '`team`. An unknown account is created.',
  access: 'public',
  body: z
    .object({
      token: text().meta({ description: 'The JWT.', example: 'eyJhbGciOiJIUzI1NiJ9.eyJlbWFpbCI6Imdy….c2lnbmF0dXJl' }),
    })
    .meta({ id: 'SiteLogin' }),
  answer: SignedInAnswer,
  refusals: ['site_login_disabled', 'invalid_credentials', 'email_taken', 'registration_closed'],
});
