import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { Unauthenticated, WrongPassword } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { Clock, UnitOfWork } from '../shared/ports.js';
import { ChoosePassword } from './choose-password.js';
import { AccountRepository, CredentialRepository, PasswordHasher } from './ports.js';
import { ReplacePassword } from './replace-password.js';

interface Input {
  readonly by: Caller | null;
  readonly name?: string | undefined;
  readonly alertEmails?: boolean | undefined;
  readonly password?: string | undefined;
  readonly currentPassword?: string | undefined;
  readonly revokeKeys: boolean;
}

/** Changes one's own name, wishes or password. A new password ends the other sessions of the account. */
@injectable()
export class UpdateOwnAccount {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly hasher: PasswordHasher,
    private readonly choosePassword: ChoosePassword,
    private readonly replacePassword: ReplacePassword,
    private readonly credentials: CredentialRepository,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest, WrongPassword, Unauthenticated, HashingBusy. */
  async execute({ by, currentPassword, revokeKeys, alertEmails, ...typed }: Input): Promise<Account> {
    const caller = authorize(by, permissions.ownAccount);
    const { accountId, credentialId } = caller;
    const compared = typed.password === undefined ? null : await this.compared(accountId, currentPassword);
    const { name, password } = Account.profile(typed);
    const passwordHash = password && (await this.choosePassword.execute(password));
    return this.unitOfWork.run(async () => {
      const account = await this.own(accountId);
      const changed = { ...account, ...(name && { name }), ...(alertEmails !== undefined && { alertEmails }) };
      if (changed.name !== account.name || changed.alertEmails !== account.alertEmails) {
        const details = { name, alert_emails: alertEmails };
        await this.audit.record({ by: caller, action: 'account.changed', object: changed, details });
      }
      if (!passwordHash) {
        await this.accounts.save(changed);
        return changed;
      }
      // The hashes took their time: meanwhile another call may have changed the password, and ended this session.
      if (account.passwordHash !== compared) throw new WrongPassword();
      await this.requireSession(accountId, credentialId);
      const details = { keys_revoked: revokeKeys };
      await this.audit.record({ by: caller, action: 'account.password_changed', object: changed, details });
      return this.replacePassword.execute({ account: changed, passwordHash, keepSession: credentialId, revokeKeys });
    });
  }

  /** The hash that the current password was found to have made. */
  private async compared(accountId: string, current: string | undefined): Promise<string | null> {
    if (current === undefined) {
      throw new InvalidRequest([{ path: 'current_password', message: 'is required to change the password' }]);
    }
    const { passwordHash } = await this.own(accountId);
    if (!(await this.hasher.matches(current, passwordHash))) throw new WrongPassword();
    return passwordHash;
  }

  private async requireSession(accountId: string, id: string): Promise<void> {
    const live = await this.credentials.list({ accountId, kind: 'session', now: this.clock.now() });
    if (!live.some((session) => session.id === id)) throw new Unauthenticated();
  }

  private async own(accountId: string): Promise<Account> {
    const account = await this.accounts.byId(accountId);
    if (!account) throw new Unauthenticated();
    return account;
  }
}
