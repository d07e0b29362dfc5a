import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Who runs a command: a person at a terminal, or a script. */
export interface Terminal {
  readonly interactive: boolean;
  out(line: string): void;
  err(line: string): void;
  /** What a person types, shown to nobody. */
  secret(question: string): Promise<string>;
  /** The first line of what is piped in. */
  piped(): Promise<string>;
}

/** Longer than any line that anybody pipes in on purpose. */
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

  async piped() {
    let text = '';
    process.stdin.setEncoding('utf8');
    for await (const chunk of process.stdin) {
      text += chunk;
      if (text.includes('\n') || text.length > MOST_PIPED) break;
    }
    return text.split(/\r?\n/, 1)[0] ?? '';
  },
};
