import { execFile } from 'node:child_process';
import type { Account } from './account.js';
import { EmbeddedPostgresError, oneLine, REMEDY } from './failure.js';

/** A way to run a program as the server's account. */
export interface Launcher {
  readonly prefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
}

/** What PostgreSQL gets to see of the environment; the service's own holds secrets. */
export const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
});

/** How a program failed: the end of what it complained about, and its exit code. */
class ProgramFailure extends Error {
  constructor(
    output: string,
    readonly code: unknown,
  ) {
    super(oneLine(output).slice(-500));
  }
}

/** Answers what the program wrote. */
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
 * The ways to become `account`, least power first. Root may have put the data folder or the program below a folder
 * that is closed to everyone else (`mktemp -d`, a clone in /root). Those folders are not ours to open, so the server
 * keeps one capability of root instead: to pass through closed folders. Containers often withhold the exact one and
 * allow only the wider `dac_override`. The secure bit lets it count in access(2) too, by which PostgreSQL looks for
 * its own files.
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
/** `initdb --show` looks for all that a server needs, makes nothing and takes 10 ms. */
const PROBE = `
test -w "$1" && test -x "$1" || exit ${NO_FOLDER}
test -x "$2" || exit ${NO_PROGRAM}
exec "$2" --show -D "$1/none" 2>&1`;

export interface Way {
  readonly launcher: Launcher;
  /** The programs' major version. */
  readonly version: string;
}

/** The first way in which the account reaches the folder and the programs really run. */
export async function findWay(account: Account, folder: string, initdb: string): Promise<Way> {
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
