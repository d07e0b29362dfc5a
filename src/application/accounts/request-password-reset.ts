import { injectable } from 'inversify';
import { UnitOfWork } from '../shared/ports.js';
import { MailToken } from './mail-token.js';
import { AccountRepository } from './ports.js';

/** Sends a reset e-mail where there is an account with a password; says nothing of whether there is. */
@injectable()
export class RequestPasswordReset {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly mailToken: MailToken,
  ) {}

  execute(input: { email: string }): Promise<void> {
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.byEmail(input.email);
      if (account?.passwordHash) await this.mailToken.execute(account, 'reset');
    });
  }
}
