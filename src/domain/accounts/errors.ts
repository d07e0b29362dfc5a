import { DomainError, refusal } from '../shared/errors.js';
import type { CallerKind, Role } from './caller.js';

export class Unauthenticated extends refusal(
  'unauthenticated',
  'unauthenticated',
  'A valid credential is needed: send "Authorization: Bearer <session token or API key>".',
) {}

export class InvalidCredentials extends refusal(
  'unauthenticated',
  'invalid_credentials',
  'The e-mail or the password is wrong.',
) {}

const kindNames: Record<CallerKind, string> = {
  session: 'a session token',
  api_key: 'an API key',
  master: 'the master key',
};

/** Refuses a valid credential of a kind that the endpoint does not accept. */
export class SessionRequired extends DomainError {
  constructor(sent: CallerKind, accepted: readonly CallerKind[]) {
    const remedy = accepted.includes('session') ? 'sign in and send the session token' : 'send the master key';
    const message = `This endpoint does not take ${kindNames[sent]}: ${remedy}.`;
    super('unauthenticated', 'session_required', message);
  }
}

export class RoleForbidden extends DomainError {
  constructor(allowed: readonly Role[]) {
    super('forbidden', 'forbidden', `This needs the role ${allowed.join(' or ')}.`);
  }
}

/** Refuses an account that is not in the operator team. */
export class OperatorOnly extends refusal(
  'forbidden',
  'operator_only',
  'This is for the accounts of the team that runs this service.',
) {}

export class EmailUnverified extends refusal(
  'forbidden',
  'email_unverified',
  'Verify your e-mail first: open the link in the mail, or ask for a new one.',
) {}

/** Refuses an invalid token of an embedding site. The message hides the reason, because it would help a forger. */
export class SiteTokenInvalid extends refusal(
  'unauthenticated',
  'invalid_credentials',
  'The site token is not valid, has expired or was used before.',
) {}

export class EmailTaken extends refusal(
  'conflict',
  'email_taken',
  'An account with this e-mail exists: log in instead.',
) {}

export class RegistrationClosed extends DomainError {
  constructor(message: string) {
    super('forbidden', 'registration_closed', message);
  }
}

export class TokenNotFound extends refusal(
  'not_found',
  'token_not_found',
  'There is no such token: copy it whole from the e-mail.',
) {}

export class TokenUsed extends refusal('gone', 'token_used', 'This token was used already.') {}

export class TokenExpired extends refusal('gone', 'token_expired', 'This token has expired.') {}

/** Too many calls wait for the password hasher. */
export class HashingBusy extends refusal(
  'unavailable',
  'busy',
  'Too many logins and registrations at once: try again in 2 s.',
  {
    retryAfterSeconds: 2,
  },
) {}

export class InviteNotFound extends refusal('not_found', 'invite_not_found', 'There is no such invite.') {}

export class InviteRedeemed extends refusal('gone', 'invite_redeemed', 'This invite has been redeemed.') {}

export class InviteRevoked extends refusal(
  'gone',
  'invite_revoked',
  'This invite has been revoked: ask for a new one.',
) {}

export class InviteExpired extends refusal('gone', 'invite_expired', 'This invite has expired: ask for a new one.') {}

export class InviteEmailMismatch extends refusal(
  'forbidden',
  'invite_email_mismatch',
  'This invite is for another e-mail address.',
) {}

/** Refuses a change that would leave the team without an admin. */
export class LastAdmin extends refusal(
  'conflict',
  'last_admin',
  'This is the last admin of the team: make another account admin first.',
) {}

export class WrongPassword extends refusal('forbidden', 'wrong_password', 'current_password is wrong.') {}

export class SiteLoginDisabled extends refusal(
  'forbidden',
  'site_login_disabled',
  'Site login is not set up on this deployment.',
) {}
