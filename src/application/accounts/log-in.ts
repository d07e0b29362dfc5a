import { InvalidCredentials } from '../../domain/access/errors.js';
import type { UnitOfWork } from '../shared/ports/unit-of-work.js';
import type { Accounts } from './ports/accounts.js';
import type { PasswordHasher } from './ports/password-hasher.js';
import type { SignedIn, SignIn } from './sign-in.js';

/** Opens a session and mints a fresh API key; earlier ones stay. */
export class LogIn {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: Accounts,
    private readonly hasher: PasswordHasher,
    private readonly signIn: SignIn,
  ) {}

  /** Throws InvalidCredentials, in the same time whether the e-mail or the password was wrong; HashingBusy. */
  async execute(input: { email: string; password: string }): Promise<SignedIn> {
    const account = await this.accounts.byEmail(input.email);
    const right = await this.hasher.matches(input.password, account?.passwordHash ?? null);
    if (!account || !right) throw new InvalidCredentials();
    return this.unitOfWork.run(async () => {
      // The hash took its time: meanwhile the password may have changed, or the account may be gone.
      const now = await this.accounts.byId(account.id);
      if (now?.passwordHash !== account.passwordHash) throw new InvalidCredentials();
      return this.signIn.execute(now, 'login');
    });
  }
}
