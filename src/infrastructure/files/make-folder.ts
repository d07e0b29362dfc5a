import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the folder, and those above it that are missing. Not by Node's own recursion: that never ends where the system
 * says of a folder that exists that there is none to make another in, as below /proc.
 */
export function makeFolder(folder: string, mode?: number): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (!isFolder(folder)) throw error; // somebody else may have made it just now
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
