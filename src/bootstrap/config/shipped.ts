import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const shipped = packageRoot(__dirname);
export const shippedModels = join(shipped, 'models');
export const shippedStarters = join(shipped, 'starters');

/** Returns the compiled program of a child process, also to tests, which run from `src`. */
export const shippedProgram = (path: string): string => join(shipped, 'dist/src', path);

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(resolve(folder, '..'));
}
