import { port } from '../../shared/port.js';

/** What an embedding site says of one of its users. */
export interface SiteClaims {
  readonly email: string;
  /** Null where the site says nothing of it. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
  /** The team of the site that the user belongs to; null: one of the user's own. */
  readonly team: string | null;
  /** Unique to the token. */
  readonly tokenId: string;
  readonly expiresAt: Date;
}

/** Verifies the signed tokens of an embedding site. */
export interface SiteTokens {
  /** False where no site is set up. */
  readonly enabled: boolean;
  /**
   * The claims of a token that the site signed for this service and that has not expired; throws SiteTokenInvalid for
   * any other. Whether a token was used before is not its concern.
   */
  verify(token: string): Promise<SiteClaims>;
}
export const SiteTokens = port<SiteTokens>('accounts.SiteTokens');
