import { injectable } from 'inversify';
import { Account, accountLimits, emailKey, type Team } from '../../domain/accounts/account.js';
import { EmailTaken, RegistrationClosed, SiteLoginDisabled, SiteTokenInvalid } from '../../domain/accounts/errors.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import {
  AccountRepository,
  type SiteClaims,
  SiteTokenVerifier,
  SpentSiteTokenRepository,
  TeamRepository,
} from './ports.js';
import { type SignedIn, SignIn } from './sign-in.js';

export abstract class SiteLoginRules {
  abstract readonly maxAccounts: number;
  /** May sign in to an operator's or a password holder's account whose e-mail is verified. */
  abstract readonly link: boolean;
}

/** Signs in a user of the embedding site by the site's word; an unknown one gets an account without a password. */
@injectable()
export class SiteLogin {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly siteTokens: SiteTokenVerifier,
    private readonly spent: SpentSiteTokenRepository,
    private readonly accounts: AccountRepository,
    private readonly teams: TeamRepository,
    private readonly signIn: SignIn,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly rules: SiteLoginRules,
  ) {}

  /** Throws SiteLoginDisabled, SiteTokenInvalid, InvalidRequest, EmailTaken, RegistrationClosed. */
  async execute(input: { token: string }): Promise<SignedIn> {
    this.requireEnabled();
    const claims = await this.siteTokens.verify(input.token);
    return this.unitOfWork.run(async () => {
      const fresh = await this.spent.spend(claims.tokenId, claims.expiresAt, this.clock.now());
      if (!fresh) throw new SiteTokenInvalid();
      const known = await this.accounts.byEmail(claims.email);
      const account = known ? await this.known(known, claims) : await this.created(claims);
      return this.signIn.execute(account, 'login');
    });
  }

  /** Throws SiteLoginDisabled. */
  requireEnabled(): void {
    if (!this.siteTokens.enabled) throw new SiteLoginDisabled();
  }

  private async known(account: Account, claims: SiteClaims): Promise<Account> {
    const team = await this.teams.byId(account.teamId);
    const guarded = team?.operator || account.passwordHash !== null;
    if (guarded && !(this.rules.link && account.emailVerifiedAt && claims.emailVerified !== false))
      throw new EmailTaken();
    if (!claims.emailVerified || account.emailVerifiedAt) return account;
    const verified = Account.verified(account, this.clock.now());
    await this.accounts.save(verified);
    await this.audit.record({ by: Actor.self(account), action: 'account.email_verified', object: account });
    return verified;
  }

  private async created(claims: SiteClaims): Promise<Account> {
    const { maxAccounts } = this.rules;
    if ((await this.accounts.count()) >= maxAccounts) {
      throw new RegistrationClosed(`This deployment has reached its cap of ${maxAccounts} accounts.`);
    }
    const email = siteEmail(claims);
    const name = siteName(claims);
    const now = this.clock.now();
    const siteKey = claims.team === null ? `account:${emailKey(email)}` : `team:${claims.team}`;
    const existing = await this.teams.bySiteKey(siteKey);
    const team: Team = existing ?? { id: this.ids.next('tea'), operator: false, siteKey, createdAt: now };
    if (!existing) await this.teams.add(team);
    const first = (await this.accounts.ofTeam(team.id)).length === 0;
    const account: Account = {
      id: this.ids.next('usr'),
      teamId: team.id,
      name,
      email,
      role: first ? 'admin' : 'member',
      passwordHash: null,
      emailVerifiedAt: claims.emailVerified === true ? now : null,
      alertEmails: false,
      createdAt: now,
    };
    await this.accounts.add(account);
    const details = { role: account.role, site_login: true };
    await this.audit.record({ by: Actor.self(account), action: 'account.registered', object: account, details });
    return account;
  }
}

/** An address that cannot be one makes the token invalid: there is nobody to blame it on but the site. */
function siteEmail({ email }: SiteClaims): string {
  try {
    return Account.profile({ email }).email;
  } catch {
    throw new SiteTokenInvalid();
  }
}

/** The name that the site gives, as far as it can be one; else the first part of the address. */
function siteName({ name, email }: SiteClaims): string {
  const printable = (name ?? '').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').trim();
  const candidates = [printable, email.split('@')[0] ?? '', email].map((text) =>
    [...text].slice(0, accountLimits.name).join(''),
  );
  return candidates.find((text) => /[\p{L}\p{N}]/u.test(text)) ?? 'User';
}
