import { runCommandLine } from './bootstrap/cli/command-line.js';

/** Handles signals and exit codes of the command line. `bootstrap` makes everything else. */
const GRACE_MS = 10_000;

const stopping = new AbortController();
const stop = () => {
  stopping.abort(new Error('stopped'));
  setTimeout(() => process.exit(1), GRACE_MS).unref();
};
process.once('SIGINT', stop).once('SIGTERM', stop);

void runCommandLine(process.argv.slice(2), stopping.signal).then((code) => process.exit(code));
