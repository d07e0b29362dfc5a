import * as fs from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Calls `work` with what `spawn` needs to give a child nothing at the descriptors that this process has inherited.
 * Node closes its own in a child, but a pipe that whoever started the service left open would be held open by the
 * child, and whoever reads it would wait. macOS closes those too.
 */
export function withoutInherited<T>(work: (beyondStdio: ('ignore' | number)[]) => T): T {
  const inherited = process.platform === 'linux' ? inheritedDescriptors() : [];
  const nothing = fs.openSync('/dev/null', 'r');
  try {
    const beyond = Array.from({ length: Math.max(3, ...inherited.map((n) => n + 1)) - 3 }, (_, index) =>
      inherited.includes(index + 3) ? nothing : ('ignore' as const),
    );
    return work(beyond);
  } finally {
    fs.closeSync(nothing);
  }
}

function inheritedDescriptors(): number[] {
  return fs
    .readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && staysOpen(descriptor));
}

function staysOpen(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return (Number.parseInt(flags ?? '0', 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // The one by which the folder was read is closed again.
  }
}
