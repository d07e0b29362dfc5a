import { DomainError } from '../../domain/shared/errors.js';
import { asStorageUnavailable } from '../../infrastructure/typeorm/storage-errors.js';
import { type Called, parseCommand, UsageError } from '../../interfaces/cli/arguments.js';
import type { CommandName } from '../../interfaces/cli/commands.js';
import { processTerminal, type Terminal } from '../../interfaces/cli/terminal.js';
import { type Config, loadConfigFromProcess } from '../config/config.js';
import { createAdmin, resetPassword, revokeSessions } from './accounts.js';
import { backup } from './backup.js';
import { doctor } from './doctor.js';
import { migrateDatabase } from './migrate.js';
import { restore } from './restore.js';

type Command = (config: Config, called: Called, terminal: Terminal, stopping: AbortSignal) => Promise<unknown>;

const actions: Readonly<Record<CommandName, Command>> = {
  migrate: migrateDatabase,
  'create-admin': createAdmin,
  'reset-password': resetPassword,
  'revoke-sessions': revokeSessions,
  backup,
  restore,
  doctor,
};

/** Answers the exit code: 0 done, 1 not done, 2 not understood. */
export async function runCommandLine(
  typed: readonly string[],
  stopping: AbortSignal,
  terminal: Terminal = processTerminal,
  load: () => Config = loadConfigFromProcess,
): Promise<number> {
  try {
    const called = parseCommand(typed);
    if ('help' in called) {
      terminal.out(called.help);
      return typed.length === 0 ? 2 : 0;
    }
    await actions[called.name](load(), called, terminal, stopping);
    return 0;
  } catch (error) {
    for (const line of told(error)) terminal.err(`tenon: ${line}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** What a person can act on; the details of a refusal each have a line of their own. */
function told(error: unknown): string[] {
  const known = asStorageUnavailable(error);
  if (!(known instanceof Error)) return [String(known)];
  const details = known instanceof DomainError ? (known.advice.details ?? []).slice(1) : [];
  return [...known.message.split('\n'), ...details.map(({ path, message }) => `${path}: ${message}`)];
}
