import { resolve } from 'node:path';
import { z } from 'zod';
import { flag, isKeySet, secretText, setting, webAddress } from './setting.js';

/** The login of users whom an embedding site has signed in. */
export const siteLoginSettings = {
  SERVICE_SITE_LOGIN_SECRET: setting({
    about: 'Lets an embedding site sign its users in with tokens signed by this secret (HS256).',
    secret: true,
    read: secretText(32),
  }),
  SERVICE_SITE_LOGIN_JWKS_FILE: setting({
    about: 'The same with tokens signed by a key (RS256, ES256) of the key set in this file.',
    read: z
      .string()
      .transform((path) => resolve(path))
      .refine(isKeySet, { error: 'must name a file with a JSON Web Key Set' }),
  }),
  SERVICE_SITE_LOGIN_JWKS_URL: setting({
    about: 'The same with the key set at this URL.',
    read: webAddress,
  }),
  SERVICE_SITE_LOGIN_ISSUER: setting({
    about: 'The `iss` of the site’s tokens. Needed for site login.',
    read: z.string(),
  }),
  SERVICE_SITE_LOGIN_AUDIENCE: setting({
    about: 'The `aud` of the site’s tokens that stands for this service. Needed for site login.',
    read: z.string(),
  }),
  SERVICE_SITE_LOGIN_LINK: setting({
    about: '`true` lets the site also sign in operators and password holders whose e-mail is verified.',
    fallback: 'false',
    read: flag,
  }),
};
