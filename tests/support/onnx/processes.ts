import { readFileSync } from 'node:fs';

/** Returns the fields after the name in `/proc/<pid>/stat`, on Linux. A process that is gone counts as a zombie. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return ['Z'];
  }
}

/** Checks whether a process runs. A zombie counts as ended, because in a container nobody may collect an orphan. */
export const alive = (pid: number): boolean => statOf(pid)[0] !== 'Z';

/** Returns the processor time of a process in user mode, in hundredths of a second. */
export const ticks = (pid: number): number => Number(statOf(pid)[11]);

/** Returns the memory of a process in bytes, on Linux. */
export function residentMemory(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
