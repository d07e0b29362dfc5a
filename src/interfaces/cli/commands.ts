import type { ParseArgsConfig } from 'node:util';

export interface CommandForm {
  readonly summary: string;
  /** What stands behind the command's name. */
  readonly usage: string;
  readonly about: readonly string[];
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** Options that must be there. */
  readonly required: readonly string[];
  /** How many words it takes that are no options. */
  readonly words: number;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const plain = { options: {}, required: [], words: 0 } as const;

const PASSWORD = [
  'The password is asked for at a terminal, or read from standard input with --password-stdin. Otherwise, or where',
  'nothing is typed, one is made and shown this once. It is no option, since everybody on the machine sees those.',
];

export const commands = {
  migrate: { ...plain, summary: 'bring the tables of the database up to date', usage: '', about: [] },
  'create-admin': {
    summary: 'make an admin of the team that runs the service',
    usage: '--email ADDRESS --name NAME [--password-stdin]',
    about: ['The e-mail counts as verified, and the account towards SERVICE_MAX_ACCOUNTS.', ...PASSWORD],
    options: { email: text, name: text, 'password-stdin': flag },
    required: ['email', 'name'],
    words: 0,
  },
  'reset-password': {
    summary: 'give an account a new password, and sign it out everywhere',
    usage: '--email ADDRESS [--password-stdin] [--revoke-keys]',
    about: ['--revoke-keys also ends the API keys that the account has asked for.', ...PASSWORD],
    options: { email: text, 'password-stdin': flag, 'revoke-keys': flag },
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
    summary: 'look whether all that the service needs is well, a line each',
    usage: '',
    about: [
      'Changes nothing, but makes the data folder where there is none. Exits with 1 where a line says MEND, and what.',
    ],
  },
  backup: {
    summary: 'write all that the service keeps into one file',
    usage: 'FILE_OR_FOLDER [--with-models]',
    about: [
      'The database as it is at one moment, the secret of the data folder, and a list of the model files with their digests;',
      '--with-models adds the uploaded model files themselves. Whoever reads the file can be anybody: keep it safe.',
    ],
    options: { 'with-models': flag },
    required: [],
    words: 1,
  },
  restore: {
    summary: 'bring a backup back, into an empty data folder and database',
    usage: 'FILE',
    about: [
      'A damaged backup, a database or data folder that is not empty, and one with a service on it are refused.',
      'Sessions and keys are those of then, also such as were revoked since: "tenon revoke-sessions --all --keys" ends them.',
    ],
    options: {},
    required: [],
    words: 1,
  },
} as const satisfies Record<string, CommandForm>;

export type CommandName = keyof typeof commands;
