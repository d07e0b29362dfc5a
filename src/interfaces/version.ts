import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const rootAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder));

/** The folder of the nearest package.json above this file. */
export const packageRoot = rootAbove(__dirname);

const packageJson = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { readonly version: string };

export const { version } = packageJson;

/** The version of Node.js that runs this process, such as `v24.21.0`. */
export const nodeVersion = process.version;
