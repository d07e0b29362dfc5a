import { injectable } from 'inversify';
import { Account, type Profile } from '../../domain/accounts/account.js';
import { EmailTaken } from '../../domain/accounts/errors.js';
import type { Role } from '../../domain/accounts/role.js';
import type { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { ChoosePassword } from './choose-password.js';
import { AccountRepository, TeamRepository } from './ports.js';
import { RegisterAccount } from './register-account.js';

/**
 * Makes an admin of the operator team, and the team where there is none. For whoever has the database in hand: nobody
 * is asked for a permission, nor to confirm the address.
 */
@injectable()
export class CreateAdmin {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly teams: TeamRepository,
    private readonly choosePassword: ChoosePassword,
    private readonly register: RegisterAccount,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest, EmailTaken, RegistrationClosed, HashingBusy. */
  async execute({ by, ...typed }: Profile & { by: Actor }): Promise<Account> {
    const { name, email, password } = Account.profile(typed);
    const passwordHash = await this.choosePassword.execute(password);
    return this.unitOfWork.run(async () => {
      if (await this.accounts.byEmail(email)) throw new EmailTaken();
      await this.register.requirePlace();
      const createdAt = this.clock.now();
      const account: Account = {
        id: this.ids.next('usr'),
        teamId: await this.operatorTeam(createdAt),
        name,
        email,
        role: 'admin' satisfies Role,
        passwordHash,
        emailVerifiedAt: createdAt,
        alertEmails: false,
        createdAt,
      };
      await this.accounts.add(account);
      await this.audit.record({ by, action: 'account.registered', object: account, details: { role: account.role } });
      return account;
    });
  }

  private async operatorTeam(createdAt: Date): Promise<string> {
    const known = await this.teams.operator();
    if (known) return known.id;
    const team = { id: this.ids.next('tea'), operator: true, siteKey: null, createdAt };
    await this.teams.add(team);
    return team.id;
  }
}
