import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Excludes the middle of a path and of a URL. */
const PATH_START = String.raw`(?<![\w.:/-])(?:file://)?`;

const PLAIN = new RegExp(String.raw`${PATH_START}(?:/[^\s/:'"()]+)+/([^\s/:'"()]+)`, 'g');

/** A quoted path may contain spaces. */
const QUOTED = /(['"])\/[^'"\n]*\/([^'"/\n]+)\1/g;

const OWN_FOLDERS = [packageRoot(__dirname), process.cwd()];

/**
 * Returns the text with each absolute path cut down to its last part, because users read it who do not own the machine.
 * The end of an unquoted path with spaces is unknown. So name such folders in `folders`; the service's own are known.
 */
export function withoutPaths(text: string, ...folders: readonly string[]): string {
  // The longest first: one may lie in another.
  const known = [...OWN_FOLDERS, ...folders].sort((a, b) => b.length - a.length);
  return known.reduce(withoutFolder, text).replace(QUOTED, '$1$2$1').replace(PLAIN, '$1');
}

/** Replaces the folder by one with a plain name, which the patterns then remove. */
function withoutFolder(text: string, folder: string): string {
  const name = basename(folder);
  if (!name) return text;
  const spellings = [folder, pathToFileURL(folder).pathname].map(escapeRegExp).join('|');
  const found = new RegExp(String.raw`${PATH_START}(?:${spellings})(?:(/)|(?![\w-]|\.\w))`, 'g');
  return text.replace(found, (_, inside) => (inside ? '/_/' : name));
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(resolve(folder, '..'));
}
