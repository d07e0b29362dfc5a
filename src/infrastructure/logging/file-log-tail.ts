import { type FileHandle, open } from 'node:fs/promises';
import { type LogTail, type LogTailQuery, logTailLimits } from '../../application/operations/ports/log-tail.js';
import { linesBackwards } from './lines-backwards.js';
import { rotatedFiles } from './rotated-files.js';

/** Reads the files that `WinstonLog` writes, each from its end. */
export class FileLogTail implements LogTail {
  constructor(
    readonly file: string,
    private readonly limits = logTailLimits,
  ) {}

  async read(query: LogTailQuery): Promise<string[]> {
    const files = await opened(rotatedFiles(this.file));
    try {
      return await this.newest(files, query);
    } finally {
      await Promise.all(files.map((file) => file.close()));
    }
  }

  private async newest(files: readonly FileHandle[], { most, mentioning }: LogTailQuery): Promise<string[]> {
    const { answerBytes, searchedBytes } = this.limits;
    const word = mentioning === null ? null : Buffer.from(mentioning);
    const found: string[] = [];
    let bytes = 0;
    let searched = 0;
    for await (const lines of allBackwards(files, answerBytes)) {
      for (const line of lines) {
        searched += line.length + 1;
        if (word && searched > searchedBytes) return found.reverse();
        if (word && !mentions(line, word)) continue;
        bytes += line.length;
        if (bytes > answerBytes) return found.reverse();
        found.push(line.toString());
        if (found.length === most) return found.reverse();
      }
    }
    return found.reverse();
  }
}

async function* allBackwards(files: readonly FileHandle[], longest: number): AsyncGenerator<Buffer[]> {
  for (const file of files) if (!(yield* linesBackwards(file, longest))) return;
}

/**
 * Those that are there, before any is read: a rotation can't take away what is open. One that happens meanwhile moves
 * files towards older names only, so none is missed, and one that is met a second time is left out.
 */
async function opened(paths: readonly string[]): Promise<FileHandle[]> {
  const files = new Map<string, FileHandle>();
  try {
    for (const path of paths) {
      const file = await open(path).catch(absent);
      if (!file) continue;
      const { dev, ino } = await file.stat({ bigint: true });
      const identity = `${dev} ${ino}`;
      if (files.has(identity)) await file.close();
      else files.set(identity, file);
    }
    return [...files.values()];
  } catch (error) {
    await Promise.all([...files.values()].map((file) => file.close()));
    throw error;
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** An id that goes on is another one. */
function mentions(line: Buffer, word: Buffer): boolean {
  if (word.length === 0) return false;
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    const next = line[at + word.length];
    if (next === undefined || !/[\w-]/.test(String.fromCharCode(next))) return true;
  }
  return false;
}
