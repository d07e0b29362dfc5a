import { resolve } from 'node:path';
import { z } from 'zod';
import { flag, isKeySet, secretText, setting, webAddress } from './setting.js';

/** The settings of the site login. */
export const siteLoginSettings = {
  SERVICE_SITE_LOGIN_SECRET: setting({
    about: 'Allows the site login, with tokens that the embedding site has signed with this secret (HS256).',
    secret: true,
    read: secretText(32),
  }),
  SERVICE_SITE_LOGIN_JWKS_FILE: setting({
    about: 'Allows the site login, with tokens signed with a key (RS256, ES256) of the key set in this file.',
    read: z
      .string()
      .transform((path) => resolve(path))
      .refine(isKeySet, { error: 'must name a file with a JSON Web Key Set' }),
  }),
  SERVICE_SITE_LOGIN_JWKS_URL: setting({
    about: 'Allows the site login, with the key set at this URL.',
    read: webAddress,
  }),
  SERVICE_SITE_LOGIN_ISSUER: setting({
    about: 'The `iss` of the site’s tokens. Needed for site login.',
    read: z.string(),
  }),
  SERVICE_SITE_LOGIN_AUDIENCE: setting({
    about: 'The `aud` in the site’s tokens for this service. Needed for site login.',
    read: z.string(),
  }),
  SERVICE_SITE_LOGIN_LINK: setting({
    about:
      '`true` allows the site login also for accounts with a password or of the operator team, if their e-mail is verified.',
    fallback: 'false',
    read: flag,
  }),
};
