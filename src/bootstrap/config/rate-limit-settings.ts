import { oneOf, type Setting, setting, whole } from './setting.js';

/** The settings of the rate limits. */
export const rateLimitSettings = {
  SERVICE_RATE_LIMIT_STORE: setting({
    about:
      '`memory`: every instance counts requests separately. `database`: all instances count together, so that each caller has its limits once, within 5 %.',
    fallback: 'memory',
    read: oneOf(['memory', 'database']),
  }),
  SERVICE_RATE_LIMIT_PER_MIN: setting({
    about: 'The requests that each caller may send in a minute.',
    fallback: '120',
    read: whole(1, 1_000_000),
  }),
  SERVICE_RATE_LIMIT_AUTH_PER_MIN: setting({
    about: 'The registrations and logins among these requests.',
    fallback: '20',
    read: whole(1, 1_000_000),
  }),
} satisfies Record<string, Setting>;
