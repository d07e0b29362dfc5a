import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { Credential } from '../../domain/accounts/credential.js';
import { Clock, IdGenerator, SecretTokens } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

/** What a registration or a login hands out: the secrets are shown this once. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  readonly apiKey: string;
}

/** Mints the session and the API key of a registration or a login, within the caller's unit of work. */
@injectable()
export class SignIn {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  async execute(account: Account, origin: 'registration' | 'login'): Promise<SignedIn> {
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
