import { injectable } from 'inversify';
import { Account, accountLimits, emailKey, type Team } from '../../domain/accounts/account.js';
import { EmailTaken, SiteLoginDisabled, SiteTokenInvalid } from '../../domain/accounts/errors.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, ServiceSettings, UnitOfWork } from '../shared/ports.js';
import { MEMBERSHIP } from './authority.js';
import { CredentialIssuer, type SignedIn, type SignIn } from './credential-issuer.js';
import {
  AccountRepository,
  type SiteClaims,
  SiteTokenVerifier,
  SpentSiteTokenRepository,
  TeamRepository,
} from './ports.js';
import { RegistrationService } from './registration.service.js';

/** Logs in users with tokens that the embedding site has signed. An unknown user gets an account without a password. */
@injectable()
export class SiteLoginService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly siteTokens: SiteTokenVerifier,
    private readonly spentTokens: SpentSiteTokenRepository,
    private readonly accounts: AccountRepository,
    private readonly teams: TeamRepository,
    private readonly registration: RegistrationService,
    private readonly issuer: CredentialIssuer,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  /** Throws SiteLoginDisabled, SiteTokenInvalid, EmailTaken, RegistrationClosed. */
  async logIn({ token, ...signIn }: SignIn & { token: string }): Promise<SignedIn> {
    this.requireEnabled();
    const claims = await this.siteTokens.verify(token);
    return (await this.logInKnown(claims, signIn)) ?? this.logInNew(claims, signIn);
  }

  /** Throws SiteLoginDisabled. */
  requireEnabled(): void {
    if (!this.siteTokens.enabled) throw new SiteLoginDisabled();
  }

  /** Returns null if there is no account. */
  private logInKnown(claims: SiteClaims, signIn: SignIn): Promise<SignedIn | null> {
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.byEmail(claims.email);
      if (!account) return null;
      await this.spend(claims);
      return this.issuer.signIn(await this.open(account, claims), { ...signIn, origin: 'login' });
    });
  }

  private logInNew(claims: SiteClaims, signIn: SignIn): Promise<SignedIn> {
    return this.unitOfWork.locked(MEMBERSHIP, async () => {
      await this.spend(claims);
      const known = await this.accounts.byEmail(claims.email); // another call may have created it meanwhile
      const account = await (known ? this.open(known, claims) : this.create(claims));
      return this.issuer.signIn(account, { ...signIn, origin: 'login' });
    });
  }

  private async spend({ tokenId, expiresAt }: SiteClaims): Promise<void> {
    const isNew = await this.spentTokens.spend(tokenId, expiresAt, this.clock.now());
    if (!isNew) throw new SiteTokenInvalid();
  }

  private async open(account: Account, claims: SiteClaims): Promise<Account> {
    const team = await this.teams.byId(account.teamId);
    const isGuarded = team?.operator || account.passwordHash !== null;
    const mayLink = this.settings.linkSiteLogins && account.emailVerifiedAt && claims.emailVerified !== false;
    // The site does not know whose address it is, but this service does.
    const mayBeForeign = account.emailVerifiedAt !== null && claims.emailVerified === false;
    if ((isGuarded && !mayLink) || mayBeForeign) throw new EmailTaken();
    if (!claims.emailVerified || account.emailVerifiedAt) return account;
    const verified = Account.verified(account, this.clock.now());
    await this.accounts.change(account.id, { emailVerifiedAt: verified.emailVerifiedAt });
    await this.audit.record({ by: Actor.self(account), action: 'account.email_verified', object: account });
    return verified;
  }

  private async create(claims: SiteClaims): Promise<Account> {
    await this.registration.requirePlace();
    const email = siteEmail(claims);
    const name = siteName(claims);
    const now = this.clock.now();
    const siteKey = claims.team === null ? `account:${emailKey(email)}` : `team:${claims.team}`;
    const existing = await this.teams.bySiteKey(siteKey);
    const team: Team = existing ?? { id: this.ids.next('tea'), operator: false, siteKey, createdAt: now };
    if (!existing) await this.teams.add(team);
    const isFirst = (await this.accounts.ofTeam(team.id)).length === 0;
    const account: Account = {
      id: this.ids.next('usr'),
      teamId: team.id,
      name,
      email,
      role: isFirst ? 'admin' : 'member',
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

/** Returns the user's e-mail. Throws SiteTokenInvalid if it is malformed, because only the site can correct it. */
function siteEmail({ email }: SiteClaims): string {
  try {
    return Account.profile({ email }).email;
  } catch {
    throw new SiteTokenInvalid();
  }
}

/** Returns the user's name without unprintable characters. Without a name, returns the address before the `@`. */
function siteName({ name, email }: SiteClaims): string {
  const printable = (name ?? '').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').trim();
  const candidates = [printable, email.split('@')[0] ?? '', email].map((text) =>
    [...text].slice(0, accountLimits.name).join(''),
  );
  return candidates.find((text) => /[\p{L}\p{N}]/u.test(text)) ?? 'User';
}
