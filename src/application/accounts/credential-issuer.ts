import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { type Client, Credential } from '../../domain/accounts/credential.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { CredentialRepository, SecretTokens } from './ports.js';

/** Tells how an account signs in. */
export interface SignIn {
  readonly client: Client;
  /** Whether the sign-in also creates an API key. */
  readonly withKey: boolean;
}

/** The result of a registration or a login. The token and the API key cannot be read again. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
  /** The secret of the new API key, or null if the sign-in created no key. */
  readonly apiKey: string | null;
}

@injectable()
export class CredentialIssuer {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a session, and an API key if the caller wants one, within the caller's unit of work. */
  async signIn(
    account: Account,
    { client, withKey, origin }: SignIn & { readonly origin: 'registration' | 'login' },
  ): Promise<SignedIn> {
    const common = { accountId: account.id, origin, createdAt: this.clock.now() };
    const { token, digest } = this.tokens.issue('session');
    await this.credentials.add(Credential.session({ ...common, ...client, id: this.ids.next('ses'), digest }));
    if (!withKey) return { account, token, apiKey: null };
    const key = this.tokens.issue('api_key');
    await this.credentials.add(
      Credential.apiKey({ ...common, id: this.ids.next('key'), digest: key.digest, hint: key.hint }),
    );
    return { account, token, apiKey: key.token };
  }
}
