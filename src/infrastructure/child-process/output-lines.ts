import { StringDecoder } from 'node:string_decoder';

const LONGEST_LINE = 4_096;

/** Colours, and whatever else makes sense on a terminal only. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const TERMINAL_CODES = /\u001b\[[0-9;]*[A-Za-z]/g;

const plain = (text: string): string => text.replace(TERMINAL_CODES, '');

/** Cuts what a process writes into lines. A line that does not end is cut up, so that a process can't fill our memory. */
export class OutputLines {
  private readonly decoder = new StringDecoder('utf8');
  private begun = '';

  constructor(private readonly take: (line: string) => void) {}

  write(chunk: Buffer): void {
    const lines = (this.begun + this.decoder.write(chunk)).split('\n');
    this.begun = lines.pop() ?? '';
    for (const line of lines) this.give(line);
    if (this.begun.length > LONGEST_LINE) this.flush();
  }

  end(): void {
    this.begun += this.decoder.end();
    this.flush();
  }

  private flush(): void {
    this.give(this.begun);
    this.begun = '';
  }

  private give(line: string): void {
    const written = plain(line).trimEnd();
    for (let at = 0; at < written.length; at += LONGEST_LINE) this.take(written.slice(at, at + LONGEST_LINE));
  }
}

/** The latest `limit` bytes that a process wrote. */
export class OutputTail {
  private kept = Buffer.alloc(0);

  constructor(private readonly limit: number) {}

  write(chunk: Buffer): void {
    this.kept = Buffer.concat([this.kept, chunk]).subarray(-this.limit);
  }

  get text(): string {
    return plain(this.kept.toString('utf8')).trim();
  }
}
