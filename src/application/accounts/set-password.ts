import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import type { Actor } from '../../domain/audit/audit-entry.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { UnitOfWork } from '../shared/ports.js';
import { ChoosePassword } from './choose-password.js';
import { AccountRepository } from './ports.js';
import { ReplacePassword } from './replace-password.js';

interface Input {
  readonly by: Actor;
  readonly email: string;
  readonly password: string;
  /** Also the keys that the account has asked for. */
  readonly revokeKeys: boolean;
}

/** Gives an account a new password, and ends all its sessions. For whoever has the database in hand. */
@injectable()
export class SetPassword {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly choosePassword: ChoosePassword,
    private readonly replacePassword: ReplacePassword,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, InvalidRequest, HashingBusy. */
  async execute({ by, email, revokeKeys, ...typed }: Input): Promise<Account> {
    await this.found(email);
    const { password } = Account.profile(typed);
    const passwordHash = await this.choosePassword.execute(password);
    return this.unitOfWork.run(async () => {
      const account = await this.found(email);
      const details = { keys_revoked: revokeKeys };
      await this.audit.record({ by, action: 'account.password_reset', object: account, details });
      return this.replacePassword.execute({ account, passwordHash, revokeKeys });
    });
  }

  private async found(email: string): Promise<Account> {
    const account = await this.accounts.byEmail(email);
    if (!account) throw new NotFound('account');
    return account;
  }
}
