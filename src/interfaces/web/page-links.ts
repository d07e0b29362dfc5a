import { injectable } from 'inversify';
import type { PageLinks } from '../../application/accounts/ports.js';

/** The public URL of the service. It is set when the service listens. */
@injectable()
export class PublicAddress {
  baseUrl = '';
}

@injectable()
export class BaseUrlPageLinks implements PageLinks {
  constructor(private readonly address: PublicAddress) {}

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
