import { injectable } from 'inversify';
import { Account, type Profile } from '../../domain/accounts/account.js';
import type { Caller, Role } from '../../domain/accounts/caller.js';
import { EmailTaken, InviteNotFound, RegistrationClosed } from '../../domain/accounts/errors.js';
import { Invite } from '../../domain/accounts/invite.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, ServiceSettings, UnitOfWork } from '../shared/ports.js';
import { TokenMailer } from './account-mails.js';
import { MEMBERSHIP } from './authority.js';
import { CredentialIssuer, type SignedIn, type SignIn } from './credential-issuer.js';
import { PasswordChanger } from './password-changer.js';
import { AccountRepository, InviteRepository, SecretTokens, TeamRepository } from './ports.js';

export interface RegistrationStatus {
  readonly accountCount: number;
  readonly maxAccounts: number;
  /** True if anyone can register without an invite. */
  readonly registrationOpen: boolean;
}

interface Registration extends Profile, SignIn {
  readonly inviteToken?: string | undefined;
}

/**
 * Registers accounts with a password. The first account creates the operator team and is its admin. Later accounts join
 * the operator team as members. With an invite, an account joins the inviter's team with the role of the invite.
 */
@injectable()
export class RegistrationService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly teams: TeamRepository,
    private readonly invites: InviteRepository,
    private readonly passwords: PasswordChanger,
    private readonly issuer: CredentialIssuer,
    private readonly mailer: TokenMailer,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  /**
   * Throws InvalidRequest, RegistrationClosed, InviteNotFound, InviteEmailMismatch, InviteRedeemed, InviteRevoked,
   * InviteExpired, EmailTaken, HashingBusy. A refused registration stores nothing, and its invite stays pending.
   */
  async register(by: Caller | null, { inviteToken, client, withKey, ...typed }: Registration): Promise<SignedIn> {
    // These checks refuse early, before the slow hash. The unit of work repeats them.
    await this.admit(by, typed.email, inviteToken);
    const { name, email, password } = Account.profile(typed);
    await this.requireFree(email);
    const passwordHash = await this.passwords.hash(password);
    return this.unitOfWork.locked(MEMBERSHIP, async () => {
      const invite = await this.admit(by, email, inviteToken);
      await this.requireFree(email);
      if (invite) await this.invites.save(invite);
      const account: Account = {
        id: this.ids.next('usr'),
        ...(invite ? { teamId: invite.teamId, role: invite.role } : await this.placeWithoutInvite()),
        name,
        email,
        passwordHash,
        emailVerifiedAt: null,
        alertEmails: false,
        createdAt: this.clock.now(),
      };
      await this.accounts.add(account);
      await this.mailer.send(account, 'verification');
      const details = { role: account.role, invite_id: invite?.id };
      await this.audit.record({ by: Actor.self(account), action: 'account.registered', object: account, details });
      return this.issuer.signIn(account, { client, withKey, origin: 'registration' });
    });
  }

  /**
   * Creates an admin of the operator team with a verified e-mail. Creates the operator team if there is none. Checks no
   * permission. Throws InvalidRequest, EmailTaken, RegistrationClosed, HashingBusy.
   */
  async createAdmin(by: Actor, typed: Profile): Promise<Account> {
    const { name, email, password } = Account.profile(typed);
    const passwordHash = await this.passwords.hash(password);
    return this.unitOfWork.locked(MEMBERSHIP, async () => {
      await this.requireFree(email);
      await this.requirePlace();
      const createdAt = this.clock.now();
      const account: Account = {
        id: this.ids.next('usr'),
        teamId: (await this.teams.operator())?.id ?? (await this.createOperatorTeam()),
        name,
        email,
        role: 'admin',
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

  async status(): Promise<RegistrationStatus> {
    const accountCount = await this.accounts.count();
    const { maxAccounts, registration } = this.settings;
    return { accountCount, maxAccounts, registrationOpen: registration === 'open' && accountCount < maxAccounts };
  }

  /** Throws RegistrationClosed if the service has the maximum number of accounts. */
  async requirePlace(): Promise<void> {
    const { maxAccounts } = this.settings;
    if ((await this.accounts.count()) < maxAccounts) return;
    throw new RegistrationClosed(`This service has reached its limit of ${maxAccounts} accounts.`);
  }

  private async requireFree(email: string): Promise<void> {
    if (await this.accounts.byEmail(email)) throw new EmailTaken();
  }

  /** Checks that the caller may register. Returns the redeemed invite, or null without an invite. */
  private async admit(by: Caller | null, email: string, inviteToken?: string): Promise<Invite | null> {
    await this.requirePlace();
    if (inviteToken !== undefined) return this.redeemed(inviteToken, email);
    if (this.settings.registration === 'open') return null;
    const isFounder = by?.kind === 'master' && !(await this.teams.operator());
    if (!isFounder) throw new RegistrationClosed('Registration is by invite only.');
    return null;
  }

  private async redeemed(token: string, email: string): Promise<Invite> {
    const known = this.tokens.read(token);
    const invite = known?.kind === 'invite' ? await this.invites.byDigest(known.digest) : null;
    if (!invite) throw new InviteNotFound();
    return Invite.redeem(invite, email, this.clock.now());
  }

  private async placeWithoutInvite(): Promise<{ teamId: string; role: Role }> {
    const operator = await this.teams.operator();
    if (operator) return { teamId: operator.id, role: 'member' };
    return { teamId: await this.createOperatorTeam(), role: 'admin' };
  }

  private async createOperatorTeam(): Promise<string> {
    const team = { id: this.ids.next('tea'), operator: true, siteKey: null, createdAt: this.clock.now() };
    await this.teams.add(team);
    return team.id;
  }
}
