import { readFileSync } from 'node:fs';
import { descendants } from '../tests/support/processes.js';

/** The length of a clock tick in `/proc`. */
const TICK_MS = 10;

/** Returns the processor time that a process and its children have used, on Linux. Without a process returns 0. */
export function processorMs(pid: number | undefined): number {
  if (pid === undefined) return 0;
  return [pid, ...descendants(pid)].reduce((sum, one) => sum + ticksOf(one), 0) * TICK_MS;
}

/** A process that has ended counts for its parent. */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return 0;
  }
}
