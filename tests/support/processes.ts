import { existsSync, readFileSync } from 'node:fs';
import { until } from './until.js';

/** Returns every process below `pid`, on Linux. A process that ends meanwhile has none. */
export function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

function childrenOf(pid: number): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return pids === '' ? [] : pids.split(' ').map(Number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await until(`${pids} are gone`, () => !pids.some((pid) => existsSync(`/proc/${pid}`)));
}
