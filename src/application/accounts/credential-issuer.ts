import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { Credential } from '../../domain/accounts/credential.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { CredentialRepository, SecretTokens } from './ports.js';

/** The result of a registration or a login. The token and the API key cannot be read again. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  readonly apiKey: string;
}

@injectable()
export class CredentialIssuer {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a session and an API key within the caller's unit of work. */
  async signIn(account: Account, origin: 'registration' | 'login'): Promise<SignedIn> {
    const common = { accountId: account.id, origin, createdAt: this.clock.now() };
    const session = this.tokens.issue('session');
    const key = this.tokens.issue('api_key');
    await this.credentials.add(Credential.session({ ...common, id: this.ids.next('ses'), digest: session.digest }));
    await this.credentials.add(
      Credential.apiKey({ ...common, id: this.ids.next('key'), digest: key.digest, hint: key.hint }),
    );
    return { account, token: session.token, apiKey: key.token };
  }
}
