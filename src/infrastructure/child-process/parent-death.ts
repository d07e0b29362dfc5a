import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];
const KILL_ON_PARENT_DEATH = ['--pdeathsig', 'KILL'];

/** The program that starts Node.js, and its arguments before the script. */
export interface NodeCommand {
  readonly execPath: string;
  readonly execArgv: readonly string[];
}

let command: NodeCommand | undefined;

/**
 * Returns the command for a Node.js process that the kernel kills when this process dies, even if the child is stopped.
 * Only Linux with the setpriv of util-linux can do that. Elsewhere the child must call `endWithParent`.
 */
export function nodeKilledWithParent(): NodeCommand {
  command ??= setprivCommand() ?? { execPath: process.execPath, execArgv: [] };
  return command;
}

/** Ends this child process when its parent is gone. The main thread must never be blocked for long. */
export function endWithParent(): void {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl-C in a terminal reaches the whole process group, but only the parent decides when to end.
  process.on('SIGINT', () => undefined);
}

function setprivCommand(): NodeCommand | null {
  const setpriv = process.platform === 'linux' ? SETPRIV.find(isExecutable) : undefined;
  if (!setpriv) return null;
  // The setpriv of BusyBox lacks this option.
  const { status } = spawnSync(setpriv, [...KILL_ON_PARENT_DEATH, '/bin/true'], { stdio: 'ignore' });
  if (status !== 0) return null;
  return { execPath: setpriv, execArgv: [...KILL_ON_PARENT_DEATH, '--', process.execPath] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
