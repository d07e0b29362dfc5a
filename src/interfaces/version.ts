import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of the package that this file belongs to, from the nearest package.json above it. */
export const version: string = nearestVersion(__dirname);

function nearestVersion(folder: string): string {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
  } catch (error) {
    if (dirname(folder) === folder) throw error;
    return nearestVersion(dirname(folder));
  }
}
