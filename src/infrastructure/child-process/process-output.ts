import { StringDecoder } from 'node:string_decoder';

const LONGEST_LINE = 4_096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const TERMINAL_CODES = /\u001b\[[0-9;]*[A-Za-z]/g;

const withoutTerminalCodes = (text: string): string => text.replace(TERMINAL_CODES, '');

/** Cuts the output of a process into lines. Splits a line that does not end, so that memory stays bounded. */
export class OutputLines {
  private readonly decoder = new StringDecoder('utf8');
  private unfinished = '';

  constructor(private readonly onLine: (line: string) => void) {}

  write(chunk: Buffer): void {
    const lines = (this.unfinished + this.decoder.write(chunk)).split('\n');
    this.unfinished = lines.pop() ?? '';
    for (const line of lines) this.emit(line);
    if (this.unfinished.length > LONGEST_LINE) this.flush();
  }

  end(): void {
    this.unfinished += this.decoder.end();
    this.flush();
  }

  private flush(): void {
    this.emit(this.unfinished);
    this.unfinished = '';
  }

  private emit(line: string): void {
    const text = withoutTerminalCodes(line).trimEnd();
    for (let at = 0; at < text.length; at += LONGEST_LINE) this.onLine(text.slice(at, at + LONGEST_LINE));
  }
}

/** Keeps the last `limit` bytes of the output of a process. */
export class OutputTail {
  private kept = Buffer.alloc(0);

  constructor(private readonly limit: number) {}

  write(chunk: Buffer): void {
    this.kept = Buffer.concat([this.kept, chunk]).subarray(-this.limit);
  }

  get text(): string {
    return withoutTerminalCodes(this.kept.toString('utf8')).trim();
  }
}
