import { randomBytes } from 'node:crypto';
import { AccountService } from '../../application/accounts/account.service.js';
import { PasswordService } from '../../application/accounts/password.service.js';
import { RegistrationService } from '../../application/accounts/registration.service.js';
import { SessionService } from '../../application/accounts/session.service.js';
import { type Invocation, UsageError } from '../../interfaces/cli/commands.js';
import { choosePassword, type Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { commandLineActor, withContainer } from './database.js';

const generatePassword = (): string => randomBytes(15).toString('base64url');

const passwordFor = (terminal: Terminal, { flags }: Invocation) =>
  choosePassword(terminal, flags.has('password-stdin'), generatePassword);

export async function createAdmin(config: Config, invocation: Invocation, terminal: Terminal): Promise<void> {
  const { email = '', name = '' } = invocation.texts;
  const { password, generated } = await passwordFor(terminal, invocation);
  const account = await withContainer(config, true, (container) =>
    container.get(RegistrationService).createAdmin(commandLineActor(), { email, name, password }),
  );
  terminal.out(`${account.email} is an admin now: ${account.id}`);
  if (generated) terminal.out(`password, shown this once: ${password}`);
}

export async function resetPassword(config: Config, invocation: Invocation, terminal: Terminal): Promise<void> {
  const { email = '' } = invocation.texts;
  const revokeKeys = invocation.flags.has('revoke-keys');
  const { password, generated } = await passwordFor(terminal, invocation);
  const account = await withContainer(config, false, (container) =>
    container.get(PasswordService).set(commandLineActor(), { email, password, revokeKeys }),
  );
  terminal.out(`${account.email} has a new password and is signed out everywhere`);
  if (generated) terminal.out(`password, shown this once: ${password}`);
}

export async function verifyEmail(config: Config, { texts }: Invocation, terminal: Terminal): Promise<void> {
  const { email = '' } = texts;
  const account = await withContainer(config, false, (container) =>
    container.get(AccountService).verifyWithoutToken(commandLineActor(), { email }),
  );
  terminal.out(`${account.email} is verified`);
}

export async function revokeSessions(config: Config, { texts, flags }: Invocation, terminal: Terminal): Promise<void> {
  const { email = null } = texts;
  if ((email === null) !== flags.has('all')) throw new UsageError('either --email or --all is needed');
  const keys = flags.has('keys');
  const count = await withContainer(config, false, (container) =>
    container.get(SessionService).revokeAll(commandLineActor(), { email, keys }),
  );
  terminal.out(`${count} ${count === 1 ? 'account is' : 'accounts are'} signed out${keys ? ', API keys revoked' : ''}`);
}
