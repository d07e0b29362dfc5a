import { parseArgs } from 'node:util';
import { type CommandForm, type CommandName, commands } from './commands.js';

/** What was typed makes no command; the message says why. */
export class UsageError extends Error {}

export interface Called {
  readonly name: CommandName;
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
  readonly words: readonly string[];
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name);
const wantsHelp = (typed: readonly string[]) => typed.some((word) => ['-h', '--help'].includes(word));

/** What was called, or the help that was asked for. Throws UsageError. */
export function parseCommand(typed: readonly string[]): Called | { readonly help: string } {
  const [name = 'help', ...rest] = typed;
  if (['help', '-h', '--help'].includes(name)) {
    return { help: rest[0] !== undefined && isCommand(rest[0]) ? helpOf(rest[0]) : overview() };
  }
  if (!isCommand(name)) throw new UsageError(`there is no command "${name}"; "tenon help" lists them`);
  if (wantsHelp(rest)) return { help: helpOf(name) };
  return { name, ...parsed(name, rest) };
}

function parsed(name: CommandName, args: readonly string[]): Omit<Called, 'name'> {
  const { options, required, words }: CommandForm = commands[name];
  const refused = (why: string) => new UsageError(`${why}\n${usageOf(name)}`);
  const { values, positionals } = attempt(
    () => parseArgs({ args: [...args], options, allowPositionals: true, strict: true }),
    ({ message }) => refused(message),
  );
  const missing = required.find((option) => !values[option]);
  if (missing) throw refused(`--${missing} is missing`);
  if (positionals.length !== words)
    throw refused(words === 0 ? 'only options are expected' : 'exactly one file is expected');
  const entries = Object.entries(values);
  return {
    texts: Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    flags: new Set(entries.filter(([, value]) => value === true).map(([option]) => option)),
    words: positionals,
  };
}

function attempt<T>(work: () => T, translate: (error: Error) => Error): T {
  try {
    return work();
  } catch (error) {
    throw translate(error as Error);
  }
}

const usageOf = (name: CommandName): string => `usage: tenon ${`${name} ${commands[name].usage}`.trim()}`;

function helpOf(name: CommandName): string {
  const { summary, about } = commands[name];
  return [usageOf(name), '', `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...about].join('\n');
}

const WIDTH = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;

const overview = (): string =>
  [
    'usage: tenon COMMAND …',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(WIDTH)}${summary}`),
    '',
    '"tenon help COMMAND" tells more. Settings are those of the service, from the environment and a .env file here; a',
    'command works while the service runs and while it does not. Exit codes: 0 done, 1 not done, 2 not understood.',
  ].join('\n');
