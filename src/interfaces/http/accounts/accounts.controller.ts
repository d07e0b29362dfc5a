import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'inversify';
import { AccountService } from '../../../application/accounts/account.service.js';
import type { SignedIn } from '../../../application/accounts/credential-issuer.js';
import { PasswordService } from '../../../application/accounts/password.service.js';
import { RegistrationService } from '../../../application/accounts/registration.service.js';
import { SessionService } from '../../../application/accounts/session.service.js';
import { SiteLoginService } from '../../../application/accounts/site-login.service.js';
import type { Account } from '../../../domain/accounts/account.js';
import type { AccountCaller } from '../../../domain/accounts/caller.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { seconds } from '../schemas.js';
import * as contracts from './accounts.contract.js';

/** The least time of an answer. The work takes less, so the time does not show whether the account exists. */
const FORGOT_PASSWORD_MS = 60;

@injectable()
export class AccountsController implements Controller {
  readonly routes = [
    route(
      contracts.register,
      async ({ caller, client, body: { invite, invite_token, ...typed } }) => {
        const inviteToken = invite_token ?? invite ?? undefined;
        return signedIn(await this.registration.register(caller, { ...typed, inviteToken, client, withKey: true }));
      },
      () => this.registration.requirePlace(),
    ),
    route(contracts.status, async () => {
      const { accountCount, maxAccounts, registrationOpen } = await this.registration.status();
      return { account_count: accountCount, max_accounts: maxAccounts, registration_open: registrationOpen };
    }),
    route(contracts.verifyEmail, async ({ body }) => userAnswer(await this.accounts.verifyEmail(body))),
    route(contracts.resendVerification, async ({ caller }) =>
      userAnswer(await this.accounts.resendVerification(caller)),
    ),
    route(contracts.login, async ({ client, body: { api_key: withKey, ...typed } }) =>
      signedIn(await this.sessions.logIn({ ...typed, client, withKey })),
    ),
    route(
      contracts.siteLogin,
      async ({ client, body }) => signedIn(await this.siteLogin.logIn({ ...body, client, withKey: true })),
      async () => this.siteLogin.requireEnabled(),
    ),
    route(contracts.logout, async ({ caller }) => ({ id: await this.sessions.logOut(caller), deleted: true as const })),
    route(contracts.me, async ({ caller }) => {
      const own = await this.accounts.read(caller);
      return { ...callerAnswer(own), alert_emails: own.alertEmails };
    }),
    route(contracts.updateMe, async ({ caller, body }) => {
      const { name, password, alert_emails: alertEmails, current_password: currentPassword } = body;
      const change = { name, alertEmails, password, currentPassword, revokeKeys: body.revoke_keys };
      return ownAnswer(await this.accounts.update(caller, change));
    }),
    route(contracts.forgotPassword, async ({ body }) => {
      await Promise.all([this.passwords.requestReset(body), delay(FORGOT_PASSWORD_MS)]);
      return { accepted: true as const };
    }),
    route(contracts.resetPassword, async ({ body: { token, password, revoke_keys: revokeKeys } }) =>
      userAnswer(await this.passwords.reset({ token, password, revokeKeys })),
    ),
  ];

  constructor(
    private readonly registration: RegistrationService,
    private readonly accounts: AccountService,
    private readonly sessions: SessionService,
    private readonly siteLogin: SiteLoginService,
    private readonly passwords: PasswordService,
  ) {}
}

export const userAnswer = (account: Account): AnswerOf<typeof contracts.verifyEmail> => ({
  id: account.id,
  name: account.name,
  email: account.email,
  role: account.role,
  email_verified: account.emailVerifiedAt !== null,
  created_at: seconds(account.createdAt),
});

/** Returns the same answer as `userAnswer`, without reading the account again. */
export const callerAnswer = (caller: AccountCaller): AnswerOf<typeof contracts.verifyEmail> => ({
  id: caller.accountId,
  name: caller.accountName,
  email: caller.email,
  role: caller.role,
  email_verified: caller.emailVerified,
  created_at: seconds(caller.createdAt),
});

const ownAnswer = (account: Account): AnswerOf<typeof contracts.me> => ({
  ...userAnswer(account),
  alert_emails: account.alertEmails,
});

const signedIn = ({ account, token, apiKey }: SignedIn): AnswerOf<typeof contracts.login> => ({
  user: userAnswer(account),
  token,
  api_key: apiKey,
});
