import { z } from 'zod';
import { accountLimits } from '../../../domain/accounts/account.js';
import { text, visible } from '../schemas.js';

const { name, email, passwordMin, passwordMax } = accountLimits;

const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';

export const Name = text().meta({
  ...visible(name),
  pattern: `^\\s*[^\\s${CONTROL}][^${CONTROL}]*\\s*$`,
  description: `1 to ${name} characters, one of them visible and none a control character. White space around them is dropped.`,
  example: 'Ada Lovelace',
});

const EXAMPLE = 'ada@example.com';

/** Accepts any text: login tells nothing about the form of addresses. */
export const AnyEmail = text().meta({ description: 'Letter case does not matter.', example: EXAMPLE });

export const Email = text().meta({
  format: 'email',
  minLength: 3,
  maxLength: email,
  description: `At most ${email} characters. Letter case does not matter.`,
  example: EXAMPLE,
});

export const NewPassword = text().meta({
  minLength: passwordMin,
  maxLength: passwordMax,
  description: `${passwordMin} to ${passwordMax} characters. Very common passwords can be refused, too.`,
  example: 'correct horse battery',
});

export const mailedToken = `tnv_${'Example'.repeat(7)}`;

export const RevokeKeys = z.boolean({ error: 'must be true or false' }).default(false).meta({
  description: 'Also revokes the keys that `POST /v1/keys` made, not only those of registrations and logins.',
});
