import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'inversify';
import { RequestPasswordReset } from '../../../application/accounts/request-password-reset.js';
import { ResetPassword } from '../../../application/accounts/reset-password.js';
import { type Controller, route } from '../contract.js';
import * as contracts from './accounts.contract.js';
import { userAnswer } from './accounts.controller.js';

/** Longer than the work takes, so that the time does not tell whether there was any. */
const LEAST_MS = 60;

/** A way back in for whoever has forgotten the password. */
@injectable()
export class PasswordsController implements Controller {
  readonly routes = [
    route(contracts.forgotPassword, async ({ body }) => {
      await Promise.all([this.requestReset.execute(body), delay(LEAST_MS)]);
      return { accepted: true as const };
    }),
    route(contracts.resetPassword, async ({ body: { token, password, revoke_keys: revokeKeys } }) =>
      userAnswer(await this.resetPassword.execute({ token, password, revokeKeys })),
    ),
  ];

  constructor(
    private readonly requestReset: RequestPasswordReset,
    private readonly resetPassword: ResetPassword,
  ) {}
}
