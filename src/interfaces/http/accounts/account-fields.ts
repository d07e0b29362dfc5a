import { z } from 'zod';
import { accountLimits } from '../../../domain/accounts/account.js';
import { text } from '../schemas.js';

export const Name = text().meta({ description: `1 to ${accountLimits.name} characters`, example: 'Ada Lovelace' });

export const Email = text().meta({
  description: `local@domain, compared case-insensitively; at most ${accountLimits.email} characters`,
  example: 'ada@example.com',
});

export const NewPassword = text().meta({
  description: `${accountLimits.passwordMin} to ${accountLimits.passwordMax} characters`,
  example: 'correct horse battery',
});

export const mailedToken = `tnv_${'Example'.repeat(7)}`;

export const RevokeKeys = z
  .boolean({ error: 'must be true or false' })
  .default(false)
  .meta({ description: 'Also revoke the keys made by POST /v1/keys, not only those of registrations and logins.' });
