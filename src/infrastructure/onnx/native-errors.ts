/** Turns the errors of ONNX Runtime and of other libraries into messages that may be shown. */
import { sep } from 'node:path';

const LONGEST = 500;
const LOADING = /^Load model from .*? failed:\s*/;

/** Matches a place in ONNX Runtime's own source: the file, the line, and the function with or without its parameters. */
const SOURCE = /(?:\S*\/)?[\w.-]+\.(?:cc|cpp|h|hpp):\d+ (?:[\w:~<> ]+\(.*?\) |[\w:~]+ )?/g;

/** Returns the first line of an error's message, shortened. */
export function firstLineOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** Returns the message of an error of ONNX Runtime without the places in its own source. */
export const nativeMessageOf = (error: unknown): string => firstLineOf(error).replace(LOADING, '').replace(SOURCE, '');

/**
 * Makes the paths in `text` relative to the folder, and reduces others below the same root to their file name.
 * Leaves everything else that looks like a path alone, because the nodes of a network have such names.
 */
export function relativeTo(folder: string, text: string): string {
  const [, root] = folder.split(sep);
  return text
    .replaceAll(`${folder}/`, '')
    .replace(/(?<![\w.])\/[^\s'"]*\//g, (path) => (path.startsWith(`/${root}/`) ? '' : path));
}
