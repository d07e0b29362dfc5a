import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { runCommandLine } from '../../src/bootstrap/cli/command-line.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';

const BIN = join(__dirname, '../../bin/tenon.cjs');

export interface Place {
  readonly dataDir: string;
  /** The server of the database. Null: the embedded one of the data folder. */
  readonly databaseUrl: string | null;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Run {
  readonly env?: Readonly<Record<string, string>>;
  /** A text that is piped to standard input. */
  readonly input?: string;
  /** Answers the questions as a person at a terminal. Without it there is no terminal. */
  readonly typed?: readonly string[];
  readonly stopping?: AbortSignal;
}

const settingsOf = ({ dataDir, databaseUrl }: Place, env: Run['env']) => ({
  SERVICE_DATA_DIR: dataDir,
  SERVICE_BCRYPT_COST: '4',
  ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
  ...env,
});

/** Runs a command in the process of the test. */
export async function tenon(place: Place, args: readonly string[], run: Run = {}): Promise<Ran> {
  const { env, input = '', typed, stopping = new AbortController().signal } = run;
  const answers = [...(typed ?? [])];
  const texts = { out: '', err: '' };
  const terminal = {
    interactive: typed !== undefined,
    out: (line: string) => {
      texts.out += `${line}\n`;
    },
    err: (line: string) => {
      texts.err += `${line}\n`;
    },
    secret: async () => answers.shift() ?? '',
    firstLine: async () => input.split('\n', 1)[0] ?? '',
  };
  const code = await runCommandLine(args, stopping, terminal, () => loadConfig(settingsOf(place, env)));
  return { code, ...texts };
}

/** Runs a command in its own process, as people do. */
export function tenonProcess(place: Place, args: readonly string[], { env, input = '' }: Run = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const { PATH, TENON_TEST_COMPILED: NODE_COMPILE_CACHE } = process.env;
    const options = { cwd: place.dataDir, env: { PATH, NODE_COMPILE_CACHE, ...settingsOf(place, env) } };
    const child = execFile(process.execPath, [BIN, ...args], options, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
}
