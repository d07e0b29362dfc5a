import { existsSync, readFileSync } from 'node:fs';
import { until } from './until.js';

/** Returns every process below `pid`, on Linux. */
export function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await until(`${pids} are gone`, () => !pids.some((pid) => existsSync(`/proc/${pid}`)));
}
