import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageError } from './commands.js';

/** The terminal of a person, or the pipes of a script. */
export interface Terminal {
  readonly interactive: boolean;
  out(line: string): void;
  err(line: string): void;
  /** Returns the text that a person types, without showing it. */
  secret(question: string): Promise<string>;
  /** Returns the first line of standard input. */
  firstLine(): Promise<string>;
}

/** Limits how many characters of standard input are read. */
const MOST_PIPED = 64 * 1024;

export const processTerminal: Terminal = {
  get interactive() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),

  secret(question) {
    process.stderr.write(question);
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
    return new Promise((resolve, reject) => {
      reader.once('SIGINT', () => reject(new Error('stopped')));
      reader.once('line', resolve);
      reader.once('close', () => reject(new Error('nothing was typed')));
    }).finally(() => {
      reader.close();
      process.stderr.write('\n');
    }) as Promise<string>;
  },

  async firstLine() {
    let text = '';
    process.stdin.setEncoding('utf8');
    for await (const chunk of process.stdin) {
      text += chunk;
      if (text.includes('\n') || text.length > MOST_PIPED) break;
    }
    return text.split(/\r?\n/, 1)[0] ?? '';
  },
};

export interface ChosenPassword {
  readonly password: string;
  /** True if the password was generated, so it must be shown. */
  readonly generated: boolean;
}

/** Reads a password from standard input or asks a person. Generates a password if none is typed. Throws UsageError. */
export async function choosePassword(
  terminal: Terminal,
  fromStdin: boolean,
  make: () => string,
): Promise<ChosenPassword> {
  if (fromStdin) {
    const password = await terminal.firstLine();
    if (password === '') throw new UsageError('there is no password on standard input');
    return { password, generated: false };
  }
  if (!terminal.interactive) return { password: make(), generated: true };
  const password = await terminal.secret('Password (leave empty to generate one): ');
  if (password === '') return { password: make(), generated: true };
  if ((await terminal.secret('Once more: ')) !== password) throw new UsageError('the two passwords differ');
  return { password, generated: false };
}
