import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What may come before a path, but not within one or within the address of a page. */
const BEGIN = String.raw`(?<![\w.:/-])(?:file://)?`;

const PLAIN = new RegExp(String.raw`${BEGIN}(?:/[^\s/:'"()]+)+/([^\s/:'"()]+)`, 'g');

/** Between quotes a path may have spaces in it. */
const QUOTED = /(['"])\/[^'"\n]*\/([^'"/\n]+)\1/g;

/** Where the service itself lies, beside the nearest package.json above this file, and where it was started. */
const OWN = [packageRoot(__dirname), process.cwd()];

/**
 * The text with each absolute path cut down to its last part: reasons are read by people who don't own the machine.
 * Outside quotes nobody can tell where a path with spaces ends, so such folders have to be known: the service's own
 * are, `folders` are others.
 */
export function withoutPaths(text: string, ...folders: readonly string[]): string {
  // From the longest on, since one may lie in another.
  const known = [...OWN, ...folders].sort((a, b) => b.length - a.length);
  return known.reduce(withoutFolder, text).replace(QUOTED, '$1$2$1').replace(PLAIN, '$1');
}

/** Puts a folder of a plain name in the place of this one, for the patterns to go on with. */
function withoutFolder(text: string, folder: string): string {
  const name = basename(folder);
  if (!name) return text;
  const written = [folder, pathToFileURL(folder).pathname].map(literally).join('|');
  const found = new RegExp(String.raw`${BEGIN}(?:${written})(?:(/)|(?![\w-]|\.\w))`, 'g');
  return text.replace(found, (_, inside) => (inside ? '/_/' : name));
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(resolve(folder, '..'));
}
