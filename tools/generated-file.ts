import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of package.json, as seen from `dist/tools`. */
export const repository = join(__dirname, '../..');

export const contentOf = (name: string): string =>
  existsSync(join(repository, name)) ? readFileSync(join(repository, name), 'utf8') : '';

/**
 * Writes a generated file of the repository or, with `--check` on the command line, compares it with the one that is
 * there: a difference is printed and makes the exit code 1.
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

function firstDifference(there: string, generated: string): string | null {
  if (there === generated) return null;
  const [own, wanted] = [there.split('\n'), generated.split('\n')];
  let at = 0;
  while (own[at] === wanted[at]) at++;
  const shown = (line: string | undefined) => (line === undefined ? '(the file ends)' : line);
  return `line ${at + 1}\n  there:     ${shown(own[at])}\n  generated: ${shown(wanted[at])}`;
}
