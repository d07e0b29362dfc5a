import { injectable } from 'inversify';
import { LogIn } from '../../../application/accounts/log-in.js';
import { LogOut } from '../../../application/accounts/log-out.js';
import { ReadAuthStatus } from '../../../application/accounts/read-auth-status.js';
import { ReadOwnAccount } from '../../../application/accounts/read-own-account.js';
import { RegisterAccount } from '../../../application/accounts/register-account.js';
import { ResendVerification } from '../../../application/accounts/resend-verification.js';
import type { SignedIn } from '../../../application/accounts/sign-in.js';
import { SiteLogin } from '../../../application/accounts/site-login.js';
import { UpdateOwnAccount } from '../../../application/accounts/update-own-account.js';
import { VerifyEmail } from '../../../application/accounts/verify-email.js';
import type { Account } from '../../../domain/accounts/account.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import * as contracts from './accounts.contract.js';

/** One's own account: how it comes to be, and how one gets in and out. */
@injectable()
export class AccountsController implements Controller {
  readonly routes = [
    route(
      contracts.register,
      async ({ caller, body: { invite, invite_token, ...typed } }) => {
        const inviteToken = invite_token ?? invite ?? undefined;
        return signedIn(await this.registerAccount.execute({ by: caller, ...typed, inviteToken }));
      },
      undefined,
      () => this.registerAccount.requirePlace(),
    ),
    route(contracts.verifyEmail, async ({ body }) => userAnswer(await this.verify.execute(body))),
    route(contracts.resendVerification, async ({ caller }) => userAnswer(await this.resend.execute({ by: caller }))),
    route(contracts.login, async ({ body }) => signedIn(await this.logIn.execute(body))),
    route(
      contracts.siteLogin,
      async ({ body }) => signedIn(await this.siteLogin.execute(body)),
      undefined,
      async () => this.siteLogin.requireEnabled(),
    ),
    route(contracts.status, async () => {
      const { accountCount, maxAccounts, registrationOpen } = await this.readStatus.execute();
      return { account_count: accountCount, max_accounts: maxAccounts, registration_open: registrationOpen };
    }),
    route(contracts.me, async ({ caller }) => ownAnswer(await this.readOwnAccount.execute({ by: caller }))),
    route(contracts.updateMe, async ({ caller, body }) => {
      const { name, password, current_password: currentPassword, revoke_keys: revokeKeys } = body;
      const input = { by: caller, name, alertEmails: body.alert_emails, password, currentPassword, revokeKeys };
      return ownAnswer(await this.updateOwnAccount.execute(input));
    }),
    route(contracts.logout, async ({ caller }) => deleted((await this.logOut.execute({ by: caller })).id)),
  ];

  constructor(
    private readonly registerAccount: RegisterAccount,
    private readonly verify: VerifyEmail,
    private readonly resend: ResendVerification,
    private readonly logIn: LogIn,
    private readonly siteLogin: SiteLogin,
    private readonly readStatus: ReadAuthStatus,
    private readonly readOwnAccount: ReadOwnAccount,
    private readonly updateOwnAccount: UpdateOwnAccount,
    private readonly logOut: LogOut,
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

const ownAnswer = (account: Account): AnswerOf<typeof contracts.me> => ({
  ...userAnswer(account),
  alert_emails: account.alertEmails,
});

const signedIn = ({ account, token, apiKey }: SignedIn): AnswerOf<typeof contracts.login> => ({
  user: userAnswer(account),
  token,
  api_key: apiKey,
});
