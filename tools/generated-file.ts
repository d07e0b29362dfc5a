import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of package.json. This file runs from `dist/tools`. */
export const repository = join(__dirname, '../..');

export const contentOf = (name: string): string =>
  existsSync(join(repository, name)) ? readFileSync(join(repository, name), 'utf8') : '';

/**
 * Writes a generated file of the repository. With `--check` on the command line, only compares it with the existing
 * file. After a difference, prints the difference and sets the exit code to 1.
 */
export function generate(name: string, generated: string, script: string): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(join(repository, name), generated);
    console.log(`${name} written`);
    return;
  }
  const difference = firstDifference(contentOf(name), generated);
  if (difference === null) console.log(`${name} is up to date`);
  else {
    console.error(`${name} is not what the code says: run \`npm run ${script}\` and commit it.\n${difference}`);
    process.exitCode = 1;
  }
}

function firstDifference(existing: string, generated: string): string | null {
  if (existing === generated) return null;
  const [present, wanted] = [existing.split('\n'), generated.split('\n')];
  let at = 0;
  while (present[at] === wanted[at]) at++;
  const shown = (line: string | undefined) => (line === undefined ? '(the file ends)' : line);
  return `line ${at + 1}\n  there:     ${shown(present[at])}\n  generated: ${shown(wanted[at])}`;
}
