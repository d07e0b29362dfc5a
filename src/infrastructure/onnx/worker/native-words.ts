import { sep } from 'node:path';
import { wordsOf } from './broken-model.js';

const LOADING = /^Load model from .*? failed:\s*/;

/** A place in the library's own source: the file, the line, and the function with or without its parameters. */
const SOURCE = /(?:\S*\/)?[\w.-]+\.(?:cc|cpp|h|hpp):\d+ (?:[\w:~<> ]+\(.*?\) |[\w:~]+ )?/g;

/** What the native library says of an error, without the places in its own source. */
export const nativeWords = (error: unknown): string => wordsOf(error).replace(LOADING, '').replace(SOURCE, '');

/**
 * The text with paths relative to the folder, and whatever else lies beside it cut down to its name. Other things that
 * look like paths are left alone: that is how the nodes of a network are named.
 */
export function relativeTo(folder: string, text: string): string {
  const [, root] = folder.split(sep);
  return text
    .replaceAll(`${folder}/`, '')
    .replace(/(?<![\w.])\/[^\s'"]*\//g, (path) => (path.startsWith(`/${root}/`) ? '' : path));
}
