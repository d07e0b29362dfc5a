import { DomainError } from '../../domain/shared/errors.js';
import { asStorageUnavailable } from '../../infrastructure/typeorm/storage-errors.js';
import { type CommandName, type Invocation, parseCommand, UsageError } from '../../interfaces/cli/commands.js';
import { processTerminal, type Terminal } from '../../interfaces/cli/terminal.js';
import { type Config, isStartedByNpx, loadConfigFromProcess } from '../config/config.js';
import { DatabaseUnusable } from '../database.js';
import { createAdmin, resetPassword, revokeSessions, verifyEmail } from './accounts.js';
import { backup } from './backup.js';
import { migrateDatabase } from './database.js';
import { doctor } from './doctor.js';
import { restore } from './restore.js';
import { start } from './start.js';

type Command = (config: Config, invocation: Invocation, terminal: Terminal, stopping: AbortSignal) => Promise<unknown>;

const actions: Readonly<Record<CommandName, Command>> = {
  start,
  migrate: migrateDatabase,
  'create-admin': createAdmin,
  'reset-password': resetPassword,
  'verify-email': verifyEmail,
  'revoke-sessions': revokeSessions,
  backup,
  restore,
  doctor,
};

/** Runs a command. Returns the exit code: 0 for success, 1 for a failure, 2 for wrong arguments. */
export async function runCommandLine(
  typed: readonly string[],
  stopping: AbortSignal,
  terminal: Terminal = processTerminal,
  load: () => Config = loadConfigFromProcess,
): Promise<number> {
  try {
    const invocation = parseCommand(typed);
    if ('help' in invocation) {
      terminal.out(invocation.help);
      return typed.length === 0 ? 2 : 0;
    }
    await actions[invocation.name](load(), invocation, terminal, stopping);
    return 0;
  } catch (error) {
    const prefix = typed[0] === 'start' ? '' : 'tenon: '; // the lines of `start` begin with names of settings
    for (const line of linesOf(error)) terminal.err(`${prefix}${line}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Returns the lines of the message, and a line for each detail of a refusal after the first. */
function linesOf(error: unknown): string[] {
  const known = error instanceof DatabaseUnusable ? error : asStorageUnavailable(error);
  if (!(known instanceof Error)) return [String(known)];
  const details = known instanceof DomainError ? (known.advice.details ?? []).slice(1) : [];
  return [...known.message.split('\n'), ...details.map(({ path, message }) => `${path}: ${message}`)];
}

/** A command must end within this time after the first signal. The service limits its shutdown with its own setting. */
const GRACE_MS = 10_000;
const PARENT_CHECK_MS = 500;

/** Runs a command as the whole process: handles signals and the exit code. */
export function runProgram(typed: readonly string[]): void {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) return; // npm sends Ctrl-C a second time
    stopping.abort(new Error('stopped'));
    if (typed[0] !== 'start') setTimeout(() => process.exit(1), GRACE_MS).unref();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  if (isStartedByNpx()) whenParentEnds(stop);
  // The service goes on when nobody can read its `ready` line, for example because a disk is full.
  if (typed[0] === 'start') process.stdout.on('error', () => {});
  // `bin/tenon.cjs` keeps a channel open as long as it runs.
  process.channel?.unref();
  process.once('disconnect', stop);
  void runCommandLine(typed, stopping.signal).then((code) => process.exit(code));
}

/** Calls `stop` when the parent process ends. npx starts a command in a shell, which does not pass on a SIGTERM. */
function whenParentEnds(stop: () => void): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
}
