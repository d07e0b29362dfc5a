import { createHmac } from 'node:crypto';

/** By its number, the key with which a process of the service is asked by those that share its secret. */
export const processKeys =
  (secret: string) =>
  (process: number): string =>
    createHmac('sha256', secret).update(`process ${process}`).digest('base64url');
