import { port } from '../../shared/port.js';

/** Links for people, always below the service's own base URL and never made from anything that a request says. */
export interface Links {
  verifyEmail(token: string): string;
  resetPassword(token: string): string;
}
export const Links = port<Links>('accounts.Links');
