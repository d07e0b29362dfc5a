import { Credential } from '../../domain/access/credential.js';
import type { Account } from '../../domain/accounts/account.js';
import type { Credentials } from '../access/ports/credentials.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { SecretTokens } from '../shared/ports/secret-tokens.js';

/** What a registration or a login hands out: the secrets are shown this once. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  readonly apiKey: string;
}

/** Mints the session and the API key of a registration or a login, within the caller's unit of work. */
export class SignIn {
  constructor(
    private readonly credentials: Credentials,
    private readonly tokens: SecretTokens,
    private readonly ids: Identifiers,
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
