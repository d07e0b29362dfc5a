import { createHmac } from 'node:crypto';

/** Returns the key of an instance, by its number, for instances with the same secret. */
export const processKeys =
  (secret: string) =>
  (process: number): string =>
    createHmac('sha256', secret).update(`process ${process}`).digest('base64url');
