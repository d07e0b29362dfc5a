import { basename, dirname, extname, join } from 'node:path';

/** How many files the log has at most. */
const FILES = 5;

/** The names that the files of a log have, newest first; winston renames each to the next one. */
export function rotatedFiles(file: string): string[] {
  const extension = extname(file);
  const name = basename(file, extension);
  const older = Array.from({ length: FILES - 1 }, (_, n) => join(dirname(file), `${name}${n + 1}${extension}`));
  return [file, ...older];
}
