import { port } from '../../shared/port.js';

/** Links for people, always below the service's own base URL and never made from anything that a request says. */
export interface Links {
  verifyEmail(token: string): string;
  resetPassword(token: string): string;
  /** Where the API lists the alerts. */
  alerts(): string;
  /** Where it has one of them. */
  alert(id: string): string;
  /** Where the API has one's own account. */
  ownAccount(): string;
}
export const Links = port<Links>('accounts.Links');
