import type { Links } from '../../application/accounts/ports/links.js';

/** Where the service is reached; known once it listens. */
export interface PublicAddress {
  baseUrl: string;
}

export class PageLinks implements Links {
  constructor(private readonly address: Readonly<PublicAddress>) {}

  verifyEmail(token: string): string {
    return this.page('verify-email', token);
  }

  resetPassword(token: string): string {
    return this.page('reset-password', token);
  }

  alerts(): string {
    return `${this.address.baseUrl}/v1/alerts`;
  }

  alert(id: string): string {
    return `${this.alerts()}/${encodeURIComponent(id)}`;
  }

  ownAccount(): string {
    return `${this.address.baseUrl}/v1/auth/me`;
  }

  private page(name: string, token: string): string {
    return `${this.address.baseUrl}/${name}?token=${encodeURIComponent(token)}`;
  }
}
