import type { UnitOfWork } from '../shared/ports/unit-of-work.js';
import type { MailToken } from './mail-token.js';
import type { Accounts } from './ports/accounts.js';

/** Sends a reset e-mail where there is an account with a password; says nothing of whether there is. */
export class RequestPasswordReset {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: Accounts,
    private readonly mailToken: MailToken,
  ) {}

  execute(input: { email: string }): Promise<void> {
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.byEmail(input.email);
      if (account?.passwordHash) await this.mailToken.execute(account, 'reset');
    });
  }
}
