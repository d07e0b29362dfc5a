import { injectable } from 'inversify';
import { InvalidCredentials } from '../../domain/accounts/errors.js';
import { UnitOfWork } from '../shared/ports.js';
import { AccountRepository, PasswordHasher } from './ports.js';
import { type SignedIn, SignIn } from './sign-in.js';

/** Opens a session and mints a fresh API key; earlier ones stay. */
@injectable()
export class LogIn {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
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
