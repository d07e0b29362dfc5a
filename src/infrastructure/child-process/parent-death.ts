import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

const PLACES = ['/usr/bin/setpriv', '/bin/setpriv'];
const ON_PARENT_DEATH = ['--pdeathsig', 'KILL'];

/** How to start Node.js: its program, and what comes before the script. */
export interface Start {
  readonly execPath: string;
  readonly execArgv: readonly string[];
}

let found: Start | undefined;

/**
 * Starts Node.js so that the kernel kills it when this process dies, even where no code of it runs any more because
 * somebody has stopped it. Only Linux can do that, by util-linux's setpriv; elsewhere it watches its lifeline alone.
 */
export function startTiedToUs(): Start {
  found ??= tied() ?? { execPath: process.execPath, execArgv: [] };
  return found;
}

function tied(): Start | null {
  const setpriv = process.platform === 'linux' ? PLACES.find(isProgram) : undefined;
  // Other setprivs, BusyBox's for one, know less.
  if (!setpriv || spawnSync(setpriv, [...ON_PARENT_DEATH, '/bin/true'], { stdio: 'ignore' }).status !== 0) return null;
  return { execPath: setpriv, execArgv: [...ON_PARENT_DEATH, '--', process.execPath] };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
