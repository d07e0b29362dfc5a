import { existsSync, readFileSync } from 'node:fs';

/** Every process below `pid`, as Linux knows them. */
export function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  for (const until = Date.now() + 5_000; pids.some((pid) => existsSync(`/proc/${pid}`)); ) {
    if (Date.now() > until)
      throw new Error(`still there after 5 s: ${pids.filter((pid) => existsSync(`/proc/${pid}`))}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
