import { injectable } from 'inversify';
import { AccountRepository } from './ports.js';
import { RegistrationRules } from './register-account.js';

export interface AuthStatus {
  readonly accountCount: number;
  readonly maxAccounts: number;
  /** Whether anyone can register without an invite. */
  readonly registrationOpen: boolean;
}

@injectable()
export class ReadAuthStatus {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly rules: RegistrationRules,
  ) {}

  async execute(): Promise<AuthStatus> {
    const accountCount = await this.accounts.count();
    const { maxAccounts, registration } = this.rules;
    return { accountCount, maxAccounts, registrationOpen: registration === 'open' && accountCount < maxAccounts };
  }
}
