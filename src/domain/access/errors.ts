import { DomainError } from '../shared/errors.js';
import type { CallerKind } from './caller.js';
import type { Role } from './role.js';

export class Unauthenticated extends DomainError {
  constructor() {
    const message = 'A valid credential is needed: send "Authorization: Bearer <session token or API key>".';
    super('unauthenticated', 'unauthenticated', message);
  }
}

export class InvalidCredentials extends DomainError {
  constructor() {
    super('unauthenticated', 'invalid_credentials', 'The e-mail or the password is wrong.');
  }
}

const kindNames: Record<CallerKind, string> = {
  session: 'a session token',
  api_key: 'an API key',
  master: 'the master key',
};

/** A valid credential, but of a kind that the endpoint does not take. */
export class SessionRequired extends DomainError {
  constructor(given: CallerKind, taken: readonly CallerKind[]) {
    const remedy = taken.includes('session') ? 'sign in and send the session token' : 'send the master key';
    const message = `This endpoint does not take ${kindNames[given]}: ${remedy}.`;
    super('unauthenticated', 'session_required', message);
  }
}

export class RoleForbidden extends DomainError {
  constructor(allowed: readonly Role[]) {
    super('forbidden', 'forbidden', `This needs the role ${allowed.join(' or ')}.`);
  }
}

/** An account of another team than the one that runs the deployment. */
export class OperatorOnly extends DomainError {
  constructor() {
    super('forbidden', 'operator_only', 'This is for the accounts of the team that runs this service.');
  }
}

export class EmailUnverified extends DomainError {
  constructor() {
    super(
      'forbidden',
      'email_unverified',
      'Verify your e-mail first: open the link in the mail, or ask for a new one.',
    );
  }
}

/** A token of an embedding site that is not to be believed; said without why, for whoever made it up. */
export class SiteTokenInvalid extends DomainError {
  constructor() {
    super('unauthenticated', 'invalid_credentials', 'The site token is not valid, has expired or was used before.');
  }
}
