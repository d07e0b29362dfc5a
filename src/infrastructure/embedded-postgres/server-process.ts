import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { environment, type Launcher, oneLine } from './account.js';

/**
 * Runs the server and ends it with the service. Its standard input is a pipe that the service holds open: the end of that
 * file means that the service wants the server to end, or has died, even by SIGKILL. The guardian then asks the server to
 * shut down fast (every second, because a server that is only starting ignores it), after 5 s to drop everything, and after
 * 2 more kills it. The guardian ends with the server, with its exit code. It ignores signals to its process group, so that
 * the server does not lose its guardian.
 */
const GUARDIAN = `
trap '' HUP INT TERM
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
(
  insist() { for second in $2; do kill -"$1" "$server" || exit 0; sleep 1; done; }
  while read -r ignored; do :; done <&3
  exec 2>/dev/null 3<&-
  insist INT '1 2 3 4 5'
  insist QUIT '1 2'
  kill -KILL "$server"
) &
watcher=$!
exec 3<&-
wait "$server"
code=$?
exec 2>/dev/null
kill -KILL "$watcher"
wait "$watcher"
exit "$code"
`;

const TAIL = 4_096;
const STOP_MS = 10_000;
/** Time for the rest of the output after the guardian's end: a killed guardian leaves the pipe open. */
const REST_MS = 500;

export interface ServerProcess {
  readonly pid: number | undefined;
  /** Resolves with the reason and the last output when the server no longer runs. */
  readonly gone: Promise<string>;
  /** Resolves when the server no longer runs. */
  end(): Promise<void>;
}

export function launch(
  launcher: Launcher,
  command: readonly string[],
  onLine: (line: string) => void,
  variables: NodeJS.ProcessEnv = {},
): ServerProcess {
  const [file, ...args] = [...launcher.prefix, '/bin/sh', '-c', GUARDIAN, 'tenon-postgres-guardian', ...command];
  const child = spawn(file as string, args, {
    ...launcher.ids,
    cwd: '/',
    env: { ...environment(), ...variables },
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true, // in a session of its own, so that Ctrl-C does not end it before the service has drained
  }) as ChildProcessByStdio<Writable, null, Readable>;
  const tail = follow(child.stderr, onLine);
  const gone = exitOf(child).then((exit) => `PostgreSQL ended (${exit}): ${oneLine(tail()) || 'it said nothing'}`);
  child.stdin.on('error', () => {}); // The guardian is gone, which `gone` tells.
  return { pid: child.pid, gone, end: () => end(child, child.stdin, gone) };
}

/** Passes the lines of `stream` on. Returns a function that returns the end of its text. */
function follow(stream: Readable, onLine: (line: string) => void): () => string {
  let tail = '';
  let unfinished = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL);
    const lines = (unfinished + text).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  stream.on('error', () => {});
  return () => tail;
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const closed = new Promise((done) => child.once('close', done));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      void Promise.race([closed, delay(REST_MS)]).then(() => resolve(signal ?? `exit code ${code}`));
    });
  });
}

async function end(child: ChildProcess, lifeline: Writable, gone: Promise<string>): Promise<void> {
  lifeline.end();
  const overdue = setTimeout(() => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
  }, STOP_MS);
  await gone;
  clearTimeout(overdue);
}

/** The guardian leads its process group, whose only other member is the server. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
