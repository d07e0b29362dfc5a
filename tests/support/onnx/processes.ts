import { readFileSync } from 'node:fs';

/** The fields of a process after its name. Nobody may reap an orphan here: a zombie is dead. Only on Linux. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return ['Z'];
  }
}

export const alive = (pid: number): boolean => statOf(pid)[0] !== 'Z';

/** Processor time, in hundredths of a second. */
export const ticks = (pid: number): number => Number(statOf(pid)[11]);

/** In bytes; only on Linux. */
export function residentMemory(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
