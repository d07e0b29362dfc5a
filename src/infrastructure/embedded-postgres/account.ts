import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';

/** The user of the system who owns the data folder and runs the server. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** True if this process is root, so that it must start the server as this user. */
  readonly drop: boolean;
}

/**
 * Creates `folder` and returns its owner. PostgreSQL refuses to run as root, so root gives a new folder to an
 * unprivileged account that exists already.
 */
export function claimFolder(folder: string): Account {
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const owner = fs.statSync(folder);
  const uid = process.geteuid?.() ?? -1;
  if (uid !== 0) {
    if (owner.uid === uid) return { uid, gid: process.getegid?.() ?? -1, drop: false };
    const who = owner.uid === 0 ? 'root' : `user ${owner.uid}`;
    throw new EmbeddedPostgresError(
      `The data folder ${folder} belongs to ${who}, this process runs as user ${uid}: ` +
        `start it as the owner or root, choose another data folder, or ${REMEDY}.`,
    );
  }
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, drop: true };
  const account = unprivilegedAccount(fs.readFileSync('/etc/passwd', 'utf8'));
  fs.chownSync(folder, account.uid, account.gid);
  fs.chmodSync(folder, 0o700);
  return account;
}

/** Returns `postgres` or `nobody` from the text of /etc/passwd. */
export function unprivilegedAccount(passwd: string): Account {
  const users = passwd.split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((user) => user[0] === name) ?? [];
    // On macOS, the uid of `nobody` is -2.
    if (Number(uid)) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0, drop: true };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root and there is no account "postgres" or "nobody": run as another user or ${REMEDY}.`,
  );
}

/**
 * Atomically writes a file that only the account can read. The account owns the folder and may have left a link there,
 * and root must not write through such a link.
 */
export function writePrivately(account: Account, file: string, text: string): void {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  const handle = fs.openSync(unfinished, 'wx', 0o600);
  try {
    fs.writeSync(handle, text);
    if (account.drop) fs.fchownSync(handle, account.uid, account.gid);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(unfinished, file);
}

export interface Launcher {
  readonly prefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
}

/** The environment of PostgreSQL, which gets none of the service's secrets. */
export const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
});

class ProgramFailure extends Error {
  constructor(
    output: string,
    readonly code: unknown,
  ) {
    super(oneLine(output).slice(-500));
  }
}

/** Returns the program's output. If the program fails, rejects with the end of its error output. */
export function run(launcher: Launcher, command: readonly string[]): Promise<string> {
  const [file, ...args] = [...launcher.prefix, ...command] as [string, ...string[]];
  return new Promise((resolve, reject) => {
    execFile(file, args, { ...launcher.ids, cwd: '/', env: environment() }, (error, stdout, stderr) => {
      if (error) reject(new ProgramFailure(stderr || stdout || error.message, error.code));
      else resolve(stdout);
    });
  });
}

/**
 * Returns the launchers to try, the least powerful first. Root may have put the data folder or the programs below a
 * folder that is closed to everyone else (`mktemp -d`, a clone in /root). The server then keeps one capability of root,
 * which lets it pass through closed folders. Containers often lack `dac_read_search` and allow only the wider
 * `dac_override`. PostgreSQL looks for its own files with access(2). Without the secure bit, access(2) ignores the
 * capability.
 */
function launchers({ drop, uid, gid }: Account): Launcher[] {
  if (!drop) return [{ prefix: [], ids: {} }];
  const become = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup'];
  const keeping = (capability: string): Launcher => ({
    prefix: [...become, `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`, '--'],
    ids: {},
  });
  const plain = { prefix: [], ids: { uid, gid } };
  return process.platform === 'linux' ? [plain, keeping('dac_read_search'), keeping('dac_override')] : [plain];
}

const NO_FOLDER = 3;
const NO_PROGRAM = 4;
/** `initdb --show` looks for everything that a server needs, changes nothing and takes 10 ms. */
const PROBE = `
test -w "$1" && test -x "$1" || exit ${NO_FOLDER}
test -x "$2" || exit ${NO_PROGRAM}
exec "$2" --show -D "$1/none" 2>&1`;

/** Returns the first launcher that reaches the folder and runs the programs, with the major version of the programs. */
export async function findLauncher(account: Account, folder: string, initdb: string) {
  const failures: ProgramFailure[] = [];
  for (const launcher of launchers(account)) {
    try {
      const shown = await run(launcher, ['/bin/sh', '-c', PROBE, 'sh', folder, initdb]);
      return { launcher, version: /^VERSION=(\d+)/m.exec(shown)?.[1] ?? 'unknown' };
    } catch (error) {
      failures.push(error as ProgramFailure);
    }
  }
  const unreachable = failures.find(({ code }) => code === NO_FOLDER || code === NO_PROGRAM);
  if (!unreachable) {
    const reason = failures[0]?.message ?? 'no way to run it';
    throw new EmbeddedPostgresError(`The embedded PostgreSQL does not run on this machine (${reason}): ${REMEDY}.`);
  }
  const place = unreachable.code === NO_FOLDER ? folder : initdb;
  throw new EmbeddedPostgresError(
    `User ${account.uid}, as whom PostgreSQL has to run, cannot reach ${place}, and setpriv cannot grant it that: ` +
      `move it out of folders closed to others, run as a user other than root, or ${REMEDY}.`,
  );
}

export const REMEDY = 'set DATABASE_URL to use a PostgreSQL server of your own';

/** Tells in one line why the embedded PostgreSQL cannot be used, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Thrown if another process uses the data folder. */
export class FolderTaken extends EmbeddedPostgresError {}

/** Joins lines by ` | `, so that a report of many lines is one entry of a log. */
export const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' | ');

/** Runs `work`. Turns an unexpected failure into an error that also names the remedy. */
export async function withRemedy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) throw cause;
    const reason = oneLine(cause instanceof Error ? cause.message : String(cause)).slice(-800);
    throw new EmbeddedPostgresError(`The embedded PostgreSQL does not start (${reason}): fix this or ${REMEDY}.`, {
      cause,
    });
  }
}
