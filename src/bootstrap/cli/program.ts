import { isStartedByNpx } from '../config/config.js';
import { runCommandLine } from './command-line.js';

/** A command has this long to end after the first signal. The service bounds its shutdown by its own setting. */
const GRACE_MS = 10_000;
const PARENT_CHECK_MS = 500;

/** Runs a command as the whole process: handles signals and the exit code. */
export function runProgram(typed: readonly string[]): void {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) return; // npm passes Ctrl-C on a second time
    stopping.abort(new Error('stopped'));
    if (typed[0] !== 'start') setTimeout(() => process.exit(1), GRACE_MS).unref();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  if (isStartedByNpx()) whenParentEnds(stop);
  void runCommandLine(typed, stopping.signal).then((code) => process.exit(code));
}

/** npx starts a command by a shell, which SIGTERM ends and which does not pass the signal on. */
function whenParentEnds(stop: () => void): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
}
