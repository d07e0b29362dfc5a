import { injectable } from 'inversify';
import { Account, type Profile } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { EmailTaken, InviteNotFound, RegistrationClosed } from '../../domain/accounts/errors.js';
import { Invite } from '../../domain/accounts/invite.js';
import type { Role } from '../../domain/accounts/role.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.js';
import { Clock, IdGenerator, SecretTokens, UnitOfWork } from '../shared/ports.js';
import { ChoosePassword } from './choose-password.js';
import { MailToken } from './mail-token.js';
import { AccountRepository, InviteRepository, TeamRepository } from './ports.js';
import { type SignedIn, SignIn } from './sign-in.js';

export abstract class RegistrationRules {
  abstract readonly maxAccounts: number;
  /** `invite`: without an invite only the master key may register, and only the first account. */
  abstract readonly registration: 'open' | 'invite';
}

interface Input extends Profile {
  readonly by: Caller | null;
  readonly inviteToken?: string | undefined;
}

/**
 * The first account founds the operator team as its admin. Later ones join it as members, or the inviter's team with
 * the role of their invite.
 */
@injectable()
export class RegisterAccount {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly teams: TeamRepository,
    private readonly invites: InviteRepository,
    private readonly choosePassword: ChoosePassword,
    private readonly signIn: SignIn,
    private readonly mailToken: MailToken,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly rules: RegistrationRules,
  ) {}

  /**
   * Throws InvalidRequest, RegistrationClosed, InviteNotFound, InviteEmailMismatch, InviteRedeemed, InviteRevoked,
   * InviteExpired, EmailTaken, HashingBusy. A refused registration leaves nothing behind and uses up no invite.
   */
  async execute({ by, inviteToken, ...typed }: Input): Promise<SignedIn> {
    await this.admit(by, typed.email, inviteToken);
    const profile = Account.profile(typed);
    if (await this.accounts.byEmail(profile.email)) throw new EmailTaken();
    const passwordHash = await this.choosePassword.execute(profile.password);
    return this.unitOfWork.run(async () => {
      const invite = await this.admit(by, profile.email, inviteToken);
      if (await this.accounts.byEmail(profile.email)) throw new EmailTaken();
      if (invite) await this.invites.save(invite);
      const account: Account = {
        id: this.ids.next('usr'),
        ...(await this.place(invite)),
        name: profile.name,
        email: profile.email,
        passwordHash,
        emailVerifiedAt: null,
        alertEmails: false,
        createdAt: this.clock.now(),
      };
      await this.accounts.add(account);
      await this.mailToken.execute(account, 'verification');
      const details = { role: account.role, invite_id: invite?.id };
      await this.audit.record({ by: Actor.self(account), action: 'account.registered', object: account, details });
      return this.signIn.execute(account, 'registration');
    });
  }

  /** Throws RegistrationClosed when the cap is reached, whoever asks. */
  async requirePlace(): Promise<void> {
    const { maxAccounts } = this.rules;
    if ((await this.accounts.count()) < maxAccounts) return;
    throw new RegistrationClosed(`This deployment has reached its cap of ${maxAccounts} accounts.`);
  }

  /**
   * The redeemed invite, or null without one. Asked before the slow hash, to refuse early, and again inside the
   * transaction, where the answer counts.
   */
  private async admit(by: Caller | null, email: string, inviteToken: string | undefined): Promise<Invite | null> {
    await this.requirePlace();
    if (this.rules.registration === 'invite' && inviteToken === undefined) {
      const founding = by?.kind === 'master' && !(await this.teams.operator());
      if (!founding) throw new RegistrationClosed('Registration is by invite only.');
    }
    return inviteToken === undefined ? null : this.redeemed(inviteToken, email);
  }

  private async redeemed(token: string, email: string): Promise<Invite> {
    const known = this.tokens.read(token);
    const invite = known?.kind === 'invite' ? await this.invites.byDigest(known.digest) : null;
    if (!invite) throw new InviteNotFound();
    return Invite.redeem(invite, email, this.clock.now());
  }

  private async place(invite: Invite | null): Promise<{ teamId: string; role: Role }> {
    if (invite) return { teamId: invite.teamId, role: invite.role };
    const operator = await this.teams.operator();
    if (operator) return { teamId: operator.id, role: 'member' };
    const team = { id: this.ids.next('tea'), operator: true, siteKey: null, createdAt: this.clock.now() };
    await this.teams.add(team);
    return { teamId: team.id, role: 'admin' };
  }
}
