import { randomBytes } from 'node:crypto';
import { PasswordService } from '../../application/accounts/password.service.js';
import { RegistrationService } from '../../application/accounts/registration.service.js';
import { SessionService } from '../../application/accounts/session.service.js';
import { type Called, UsageError } from '../../interfaces/cli/arguments.js';
import { choosePassword } from '../../interfaces/cli/password.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { commandLineActor, inWorkshop } from './workshop.js';

const madePassword = (): string => randomBytes(15).toString('base64url');

const chosen = (terminal: Terminal, { flags }: Called) =>
  choosePassword(terminal, flags.has('password-stdin'), madePassword);

export async function createAdmin(config: Config, called: Called, terminal: Terminal): Promise<void> {
  const { email = '', name = '' } = called.texts;
  const { password, made } = await chosen(terminal, called);
  const account = await inWorkshop(config, true, (container) =>
    container.get(RegistrationService).createAdmin(commandLineActor(), { email, name, password }),
  );
  terminal.out(`${account.email} is an admin now: ${account.id}`);
  if (made) terminal.out(`password, shown this once: ${password}`);
}

export async function resetPassword(config: Config, called: Called, terminal: Terminal): Promise<void> {
  const { email = '' } = called.texts;
  const revokeKeys = called.flags.has('revoke-keys');
  const { password, made } = await chosen(terminal, called);
  const account = await inWorkshop(config, false, (container) =>
    container.get(PasswordService).set(commandLineActor(), email, { password, revokeKeys }),
  );
  terminal.out(`${account.email} has a new password and is signed out everywhere`);
  if (made) terminal.out(`password, shown this once: ${password}`);
}

export async function revokeSessions(config: Config, { texts, flags }: Called, terminal: Terminal): Promise<void> {
  const { email = null } = texts;
  if ((email === null) !== flags.has('all')) throw new UsageError('either --email or --all is needed');
  const keys = flags.has('keys');
  const count = await inWorkshop(config, false, (container) =>
    container.get(SessionService).revokeAll(commandLineActor(), { email, keys }),
  );
  terminal.out(`${count} ${count === 1 ? 'account is' : 'accounts are'} signed out${keys ? ', API keys revoked' : ''}`);
}
