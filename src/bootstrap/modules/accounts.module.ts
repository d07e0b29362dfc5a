import { ContainerModule } from 'inversify';
import { Credentials } from '../../application/access/ports/credentials.js';
import { ChoosePassword } from '../../application/accounts/choose-password.js';
import { LogIn } from '../../application/accounts/log-in.js';
import { LogOut } from '../../application/accounts/log-out.js';
import { MailToken } from '../../application/accounts/mail-token.js';
import { Accounts } from '../../application/accounts/ports/accounts.js';
import { CommonPasswords } from '../../application/accounts/ports/common-passwords.js';
import { Invites } from '../../application/accounts/ports/invites.js';
import { Links } from '../../application/accounts/ports/links.js';
import { MailedTokens } from '../../application/accounts/ports/mailed-tokens.js';
import { PasswordHasher } from '../../application/accounts/ports/password-hasher.js';
import { SiteTokens } from '../../application/accounts/ports/site-tokens.js';
import { SpentSiteTokens } from '../../application/accounts/ports/spent-site-tokens.js';
import { Teams } from '../../application/accounts/ports/teams.js';
import { ReadAuthStatus } from '../../application/accounts/read-auth-status.js';
import { ReadOwnAccount } from '../../application/accounts/read-own-account.js';
import { RegisterAccount } from '../../application/accounts/register-account.js';
import { ReplacePassword } from '../../application/accounts/replace-password.js';
import { RequestPasswordReset } from '../../application/accounts/request-password-reset.js';
import { ResendVerification } from '../../application/accounts/resend-verification.js';
import { ResetPassword } from '../../application/accounts/reset-password.js';
import { SignIn } from '../../application/accounts/sign-in.js';
import { SiteLogin } from '../../application/accounts/site-login.js';
import { UpdateOwnAccount } from '../../application/accounts/update-own-account.js';
import { VerifyEmail } from '../../application/accounts/verify-email.js';
import { Audit } from '../../application/audit/audit.js';
import { Outbox } from '../../application/mail/ports/outbox.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { SecretTokens } from '../../application/shared/ports/secret-tokens.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { BcryptPasswordHasher } from '../../infrastructure/crypto/bcrypt-password-hasher.js';
import { JoseSiteTokens } from '../../infrastructure/crypto/jose-site-tokens.js';
import { ListedCommonPasswords } from '../../infrastructure/crypto/listed-common-passwords.js';
import { TypeOrmAccounts } from '../../infrastructure/typeorm/accounts/typeorm-accounts.js';
import { TypeOrmMailedTokens } from '../../infrastructure/typeorm/accounts/typeorm-mailed-tokens.js';
import { TypeOrmSpentSiteTokens } from '../../infrastructure/typeorm/accounts/typeorm-spent-site-tokens.js';
import { TypeOrmTeams } from '../../infrastructure/typeorm/accounts/typeorm-teams.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { AccountsController } from '../../interfaces/http/accounts/accounts.controller.js';
import { PasswordsController } from '../../interfaces/http/accounts/passwords.controller.js';
import { PageLinks, type PublicAddress } from '../../interfaces/web/page-links.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';
import { Registration, SiteRules } from '../tokens.js';

/** One's own account: registration, login, passwords, and the word of an embedding site. */
export const accountsModule = (config: Config, address: PublicAddress) =>
  new ContainerModule((module) => {
    provide(module, Accounts, TypeOrmAccounts, [TypeOrmUnitOfWork]);
    provide(module, Teams, TypeOrmTeams, [TypeOrmUnitOfWork]);
    provide(module, MailedTokens, TypeOrmMailedTokens, [TypeOrmUnitOfWork]);
    provide(module, SpentSiteTokens, TypeOrmSpentSiteTokens, [TypeOrmUnitOfWork]);
    provideValue(module, SiteTokens, new JoseSiteTokens(config.siteLogin.tokens));
    const hasher = new BcryptPasswordHasher(config.bcryptCost);
    provideValue(module, BcryptPasswordHasher, hasher);
    provideValue(module, PasswordHasher, hasher);
    provideValue(module, CommonPasswords, new ListedCommonPasswords(config.passwordBlocklist));
    provideValue(module, Links, new PageLinks(address));
    provideValue(module, Registration, config.registration);
    provideValue(module, SiteRules, { maxAccounts: config.registration.maxAccounts, link: config.siteLogin.link });

    provide(module, ChoosePassword, ChoosePassword, [CommonPasswords, PasswordHasher]);
    provide(module, ReplacePassword, ReplacePassword, [Accounts, Credentials, MailedTokens]);
    provide(module, MailToken, MailToken, [MailedTokens, Outbox, SecretTokens, Links, Identifiers, Clock]);
    provide(module, SignIn, SignIn, [Credentials, SecretTokens, Identifiers, Clock]);
    provide(module, RegisterAccount, RegisterAccount, [
      UnitOfWork,
      Accounts,
      Teams,
      Invites,
      ChoosePassword,
      SignIn,
      MailToken,
      Audit,
      SecretTokens,
      Identifiers,
      Clock,
      Registration,
    ]);
    provide(module, VerifyEmail, VerifyEmail, [UnitOfWork, MailedTokens, Accounts, SecretTokens, Audit, Clock]);
    provide(module, ResendVerification, ResendVerification, [UnitOfWork, Accounts, MailToken]);
    provide(module, LogIn, LogIn, [UnitOfWork, Accounts, PasswordHasher, SignIn]);
    provide(module, LogOut, LogOut, [Credentials]);
    provide(module, SiteLogin, SiteLogin, [
      UnitOfWork,
      SiteTokens,
      SpentSiteTokens,
      Accounts,
      Teams,
      SignIn,
      Audit,
      Identifiers,
      Clock,
      SiteRules,
    ]);
    provide(module, ReadAuthStatus, ReadAuthStatus, [Accounts, Registration]);
    provide(module, ReadOwnAccount, ReadOwnAccount, [Accounts]);
    provide(module, UpdateOwnAccount, UpdateOwnAccount, [
      UnitOfWork,
      Accounts,
      PasswordHasher,
      ChoosePassword,
      ReplacePassword,
      Credentials,
      Audit,
      Clock,
    ]);
    provide(module, RequestPasswordReset, RequestPasswordReset, [UnitOfWork, Accounts, MailToken]);
    provide(module, ResetPassword, ResetPassword, [
      UnitOfWork,
      MailedTokens,
      Accounts,
      ChoosePassword,
      ReplacePassword,
      Audit,
      SecretTokens,
      Clock,
    ]);
    provide(module, AccountsController, AccountsController, [
      RegisterAccount,
      VerifyEmail,
      ResendVerification,
      LogIn,
      SiteLogin,
      ReadAuthStatus,
      ReadOwnAccount,
      UpdateOwnAccount,
      LogOut,
    ]);
    provide(module, PasswordsController, PasswordsController, [RequestPasswordReset, ResetPassword]);
  });
