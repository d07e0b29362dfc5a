import { port } from '../../shared/port.js';

/** Remembers which tokens of the embedding site were used, for as long as they could be used again. */
export interface SpentSiteTokens {
  /**
   * True the first time for a token id, false ever after, however many ask at once; false for a token that has expired
   * at `now`. Forgets those that have.
   */
  spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean>;
}
export const SpentSiteTokens = port<SpentSiteTokens>('accounts.SpentSiteTokens');
