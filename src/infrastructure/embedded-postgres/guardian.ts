import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneLine } from './failure.js';
import { withoutInherited } from './inherited.js';
import { environment, type Launcher } from './launcher.js';

/**
 * Runs the server and ends it with the service. Its standard input is a pipe that the service holds open: the end
 * of that file means that the service wants the server to end, or has died, even by SIGKILL. Then the server is
 * asked to shut down fast (every second, since a server that is only starting ignores it), after 5 s to drop
 * everything, and after 2 more it is killed. The guardian leaves with the server, with its exit code. It ignores
 * what a service manager sends to a whole group of processes, lest the server lose its guardian.
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
/** How long after the guardian's end the rest of the log is waited for: a killed guardian leaves the pipe open. */
const REST_MS = 500;

/** A server that has been launched, and may be over. */
export interface Guarded {
  /** Why it is over, in one line with its last words; undefined while it runs. */
  readonly over: string | undefined;
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export function launch(
  launcher: Launcher,
  command: readonly string[],
  log: (line: string) => void,
  extra = {},
): Guarded {
  const [file, ...args] = [...launcher.prefix, '/bin/sh', '-c', GUARDIAN, 'tenon-postgres-guardian', ...command];
  const child = withoutInherited(
    (beyondStdio) =>
      spawn(file as string, args, {
        ...launcher.ids,
        cwd: '/',
        env: { ...environment(), ...extra },
        stdio: ['pipe', 'ignore', 'pipe', ...beyondStdio],
        detached: true, // in a session of its own, so that Ctrl-C does not end it before the service has drained
      }) as ChildProcessByStdio<Writable, null, Readable>,
  );
  let over: string | undefined;
  const tail = follow(child.stderr, log);
  const ended = ending(child).then((how) => {
    over = `PostgreSQL ended (${how}): ${oneLine(tail()) || 'it said nothing'}`;
    return over;
  });
  child.stdin.on('error', () => {}); // The guardian is gone: `ended` tells.
  return {
    get over() {
      return over;
    },
    ended,
    stop: () => stop(child, child.stdin, ended),
  };
}

/** Hands the lines of `stream` to `log`; answers how to get the end of what it said. */
function follow(stream: Readable, log: (line: string) => void): () => string {
  let tail = '';
  let unfinished = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL);
    const lines = (unfinished + text).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) log(line);
  });
  stream.on('error', () => {});
  return () => tail;
}

function ending(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const closed = new Promise((done) => child.once('close', done));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      void Promise.race([closed, sleep(REST_MS)]).then(() => resolve(signal ?? `exit code ${code}`));
    });
  });
}

async function stop(child: ChildProcess, lifeline: Writable, ended: Promise<string>): Promise<void> {
  lifeline.end();
  const overdue = setTimeout(() => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
  }, STOP_MS);
  await ended;
  clearTimeout(overdue);
}

/** The guardian leads its group, in which only the server is besides it. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
