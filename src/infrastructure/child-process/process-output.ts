import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const LONGEST_LINE = 4_096;

/** Cuts the output of a process into lines. Splits a very long line, so that memory stays limited. */
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
    const text = stripVTControlCharacters(line).trimEnd();
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
    return stripVTControlCharacters(this.kept.toString('utf8')).trim();
  }
}

/** Matches before a path, but not inside a path or a URL. */
const PATH_START = String.raw`(?<![\w.:/-])(?:file://)?`;

const PLAIN = new RegExp(String.raw`${PATH_START}(?:/[^\s/:'"()]+)+/([^\s/:'"()]+)`, 'g');

/** A quoted path may contain spaces. */
const QUOTED = /(['"])\/[^'"\n]*\/([^'"/\n]+)\1/g;

const OWN_FOLDERS = [packageRoot(__dirname), process.cwd()];

/**
 * Cuts each absolute path in a text down to its last part, because readers of the text must not see the folders of this
 * machine. The end of an unquoted path with spaces cannot be found. So `folders` must name each folder whose path may
 * contain spaces, except the service's own folders.
 */
export function withoutPaths(text: string, ...folders: readonly string[]): string {
  // The longest first, because a folder may be inside another.
  const known = [...OWN_FOLDERS, ...folders].sort((a, b) => b.length - a.length);
  return known.reduce(withoutFolder, text).replace(QUOTED, '$1$2$1').replace(PLAIN, '$1');
}

/** Replaces the path of the folder with a path without spaces, which the patterns then cut down. */
function withoutFolder(text: string, folder: string): string {
  const name = basename(folder);
  if (!name) return text;
  const spellings = [folder, pathToFileURL(folder).pathname].map(escapeRegExp).join('|');
  const found = new RegExp(String.raw`${PATH_START}(?:${spellings})(?:(/)|(?![\w-]|\.\w))`, 'g');
  return text.replace(found, (_, inside) => (inside ? '/_/' : name));
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(resolve(folder, '..'));
}
