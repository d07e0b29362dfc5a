import { type ParseArgsConfig, parseArgs } from 'node:util';
import { version } from '../version.js';

interface CommandForm {
  readonly summary: string;
  /** The text after the command's name. */
  readonly usage: string;
  readonly about: readonly string[];
  readonly options: NonNullable<ParseArgsConfig['options']>;
  readonly required: readonly string[];
  /** The number of words that are not options. */
  readonly words: number;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const plain = { options: {}, required: [], words: 0 } as const;

const PASSWORD = [
  'Asks for the password at a terminal, or reads it from standard input with --password-stdin. Without a terminal, or',
  'if nothing is typed there, generates a password and prints it once. There is no option for the password, because',
  'all users of the machine can see the options of a command.',
];

const commands = {
  start: {
    ...plain,
    summary: 'start the service, with the data folder ./data by default',
    usage: '',
    about: ['Prints "ready" and the address when the service is ready. SIGTERM and Ctrl-C end it with exit code 0.'],
  },
  migrate: { ...plain, summary: 'bring the tables of the database up to date', usage: '', about: [] },
  'create-admin': {
    summary: 'create an admin of the operator team',
    usage: '--email ADDRESS --name NAME [--password-stdin]',
    about: ['The e-mail counts as verified. The account counts for SERVICE_MAX_ACCOUNTS.', ...PASSWORD],
    options: { email: text, name: text, 'password-stdin': flag },
    required: ['email', 'name'],
    words: 0,
  },
  'reset-password': {
    summary: 'give an account a new password, and sign it out everywhere',
    usage: '--email ADDRESS [--password-stdin] [--revoke-keys]',
    about: ['--revoke-keys also ends the API keys that the account has minted.', ...PASSWORD],
    options: { email: text, 'password-stdin': flag, 'revoke-keys': flag },
    required: ['email'],
    words: 0,
  },
  'verify-email': {
    summary: 'mark the e-mail address of an account as verified, without the mail',
    usage: '--email ADDRESS',
    about: ['Use it if the mail cannot reach its reader. Make sure yourself that the address belongs to the person.'],
    options: { email: text },
    required: ['email'],
    words: 0,
  },
  'revoke-sessions': {
    summary: 'sign one account out everywhere, or all accounts',
    usage: '(--email ADDRESS | --all) [--keys]',
    about: ['--keys also ends all API keys.'],
    options: { email: text, all: flag, keys: flag },
    required: [],
    words: 0,
  },
  doctor: {
    ...plain,
    summary: 'check everything that the service needs, and print a line for each check',
    usage: '',
    about: [
      'Changes nothing, but creates a missing data folder. A line that begins with MEND says what to repair. With such',
      'a line, the exit code is 1.',
    ],
  },
  backup: {
    summary: 'write all data of the service into one file',
    usage: 'FILE_OR_FOLDER [--with-models]',
    about: [
      'The file has the database of one moment, the secret of the data folder, and a list of the model files.',
      '--with-models adds the uploaded model files. A reader of the file can act as every account: keep the file safe.',
    ],
    options: { 'with-models': flag },
    required: [],
    words: 1,
  },
  restore: {
    summary: 'restore a backup into an empty data folder and database',
    usage: 'FILE',
    about: [
      'Refuses a damaged backup, a database or data folder that is not empty, and the folder of a running service.',
      'Sessions and keys of the backup are valid again, even if they were revoked later. End them with',
      '"tenon revoke-sessions --all --keys".',
    ],
    options: {},
    required: [],
    words: 1,
  },
} as const satisfies Record<string, CommandForm>;

export type CommandName = keyof typeof commands;

/** The arguments are wrong. The message says why. */
export class UsageError extends Error {}

export interface Invocation {
  readonly name: CommandName;
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
  readonly words: readonly string[];
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name);
const wantsHelp = (typed: readonly string[]) => typed.some((word) => ['-h', '--help'].includes(word));

/** Parses the arguments. Returns the help text or the version if the arguments ask for them. Throws UsageError. */
export function parseCommand(typed: readonly string[]): Invocation | { readonly help: string } {
  const [name = 'help', ...rest] = typed;
  if (['help', '-h', '--help'].includes(name)) {
    return { help: rest[0] !== undefined && isCommand(rest[0]) ? helpOf(rest[0]) : overview() };
  }
  if (name === '--version') return { help: version };
  if (!isCommand(name)) throw new UsageError(`there is no command "${name}"; "tenon help" lists them`);
  if (wantsHelp(rest)) return { help: helpOf(name) };
  return { name, ...parsed(name, rest) };
}

function parsed(name: CommandName, args: readonly string[]): Omit<Invocation, 'name'> {
  const { options, required, words }: CommandForm = commands[name];
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const missing = required.find((option) => !values[option]);
    if (missing) throw new Error(`--${missing} is missing`);
    if (positionals.length !== words)
      throw new Error(words === 0 ? 'only options are expected' : 'exactly one file is expected');
    const entries = Object.entries(values);
    return {
      texts: Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
      flags: new Set(entries.filter(([, value]) => value === true).map(([option]) => option)),
      words: positionals,
    };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usageOf(name)}`);
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
    '"tenon help COMMAND" explains a command, "tenon --version" prints the version. A command reads the settings of',
    'the service from the environment and the file .env in this folder. It works with and without a running service.',
    'Exit codes: 0 success, 1 failure, 2 wrong arguments.',
  ].join('\n');
