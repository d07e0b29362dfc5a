import { z } from 'zod';
import { httpOrigin } from './readers.js';
import { setting } from './setting.js';

/** For several processes on one database. */
export const processSettings = {
  SERVICE_PROCESS_NAME: setting({
    about:
      'What this process is called where several share a database. One that is started again under its name takes back at once what it ran.',
    fallback: null,
    shown: 'host name; with `DATABASE_URL`, the port too',
    read: z.string().regex(/^[\w.:@-]{1,100}$/, {
      error: 'must be 1 to 100 letters, digits and characters of ".:@_-"',
    }),
  }),
  SERVICE_PROCESS_URL: setting({
    about: 'Where the other processes reach this one, over a network that is theirs.',
    fallback: null,
    shown: 'the address it listens on; its host name, where that is every address',
    secret: true, // one with a user has a password, too
    read: httpOrigin,
  }),
};
