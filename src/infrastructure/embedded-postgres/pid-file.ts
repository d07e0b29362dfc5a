import * as fs from 'node:fs';
import * as path from 'node:path';

export interface PidFile {
  /** Undefined where the file is empty or damaged, as a full disk or a power cut leaves it. */
  readonly pid: number | undefined;
  /** As the server tells its own tools: it is the same in every language, unlike the log. */
  readonly status: string;
}

const STATUS_LINE = 7;

export const pidFile = (cluster: string): string => path.join(cluster, 'postmaster.pid');

/** What the server says of itself, or did before it was killed; undefined where none runs. */
export function readPidFile(cluster: string): PidFile | undefined {
  let lines: string[];
  try {
    lines = fs.readFileSync(pidFile(cluster), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number.parseInt(lines[0] ?? '', 10);
  return { pid: pid > 0 ? pid : undefined, status: lines[STATUS_LINE]?.trim() ?? '' };
}
