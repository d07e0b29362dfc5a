import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What ships with the project, beside the nearest package.json above this file. */
const shipped = packageRoot(__dirname);
export const shippedModels = join(shipped, 'models');
export const shippedStarters = join(shipped, 'starters');

/** The compiled program of a child process, by its path below `src`; what asks may itself be part of the bundle. */
export const shippedProgram = (path: string): string => join(shipped, 'dist/src', path);

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(resolve(folder, '..'));
}
