import { type FileHandle, open } from 'node:fs/promises';
import { type LogTail, type LogTailQuery, logTailLimits } from '../../application/operations/ports.js';
import { logFiles } from './winston-logger.js';

const BLOCK_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

/** Reads the files of `WinstonLogger`, each from its end. */
export class FileLogTail implements LogTail {
  constructor(
    readonly file: string,
    private readonly limits = logTailLimits,
  ) {}

  async read(query: LogTailQuery): Promise<string[]> {
    const files = await openAll(logFiles(this.file));
    try {
      return (await this.newest(files, query)).reverse();
    } finally {
      await Promise.all(files.map((file) => file.close()));
    }
  }

  private async newest(files: readonly FileHandle[], { most, ...filter }: LogTailQuery): Promise<string[]> {
    const { answerBytes, searchedBytes } = this.limits;
    const fits = filterOf(filter);
    const found: string[] = [];
    let foundBytes = 0;
    let searched = 0;
    for await (const line of linesBackwards(files, answerBytes)) {
      searched += line.length + 1;
      if (fits && searched > searchedBytes) return found;
      if (fits && !fits(line)) continue;
      foundBytes += line.length;
      if (foundBytes > answerBytes) return found;
      found.push(line.toString());
      if (found.length === most) return found;
    }
    return found;
  }
}

/**
 * Opens all files that exist before any is read, because a rotation cannot take away an open file. A rotation between
 * two openings only moves files to older names, so no file is missed. A file that is found twice is read once.
 */
async function openAll(paths: readonly string[]): Promise<FileHandle[]> {
  const files = new Map<string, FileHandle>();
  try {
    for (const path of paths) {
      const file = await open(path).catch(nullIfAbsent);
      if (!file) continue;
      const { dev, ino } = await file.stat({ bigint: true });
      if (files.has(`${dev} ${ino}`)) await file.close();
      else files.set(`${dev} ${ino}`, file);
    }
    return [...files.values()];
  } catch (error) {
    await Promise.all([...files.values()].map((file) => file.close()));
    throw error;
  }
}

function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/**
 * Yields the whole lines of files, from the last line of the first file on. The bytes of a line are valid only until
 * the next line. Leaves out a last line without a line break, because it is still being written. Ends early if a file
 * becomes shorter, or if a line is longer than `longest`.
 */
async function* linesBackwards(files: readonly FileHandle[], longest: number): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (const file of files) {
    let { size: start } = await file.stat();
    let isWhole = false;
    /** The end of a line that begins in an earlier block. */
    let rest: Buffer[] = [];
    while (start > 0) {
      const length = Math.min(BLOCK_BYTES, start);
      start -= length;
      if ((await file.read(block, 0, length, start)).bytesRead < length) return;
      let end = length;
      for (let at = lineBreakBefore(block, end); at >= 0; at = lineBreakBefore(block, end)) {
        const line = block.subarray(at + 1, end);
        if (isWhole) yield rest.length > 0 ? Buffer.concat([line, ...rest]) : line;
        rest = [];
        isWhole = true;
        end = at;
      }
      rest.unshift(Buffer.from(block.subarray(0, end)));
      if (rest.reduce((bytes, part) => bytes + part.length, 0) > longest) return;
    }
    if (isWhole) yield Buffer.concat(rest);
  }
}

const lineBreakBefore = (block: Buffer, end: number) => (end > 0 ? block.lastIndexOf(LINE_BREAK, end - 1) : -1);

/** The logger writes the time and the level first. So a text after these bytes cannot be mistaken for the level. */
const HEAD_BYTES = 60;

const headOf = (line: Buffer) => line.toString('latin1', 0, HEAD_BYTES);

const TIME = /^{"time":"([^"]+)"/;

/** Returns a function that tells whether a line fits the filter, or null if every line does. */
function filterOf({ mentioning, levels, text, from, to }: Omit<LogTailQuery, 'most'>) {
  const tests: ((line: Buffer) => boolean)[] = [];
  if (from ?? to)
    tests.push((line) => {
      const time = Date.parse(TIME.exec(headOf(line))?.[1] ?? '');
      return time >= (from?.getTime() ?? 0) && !(to && time >= to.getTime());
    });
  const marks = levels?.map((level) => `"level":"${level}"`);
  if (marks) tests.push((line) => marks.some((mark) => headOf(line).includes(mark)));
  for (const word of mentioning.map((word) => Buffer.from(word))) tests.push((line) => mentions(line, word));
  if (text !== undefined) {
    const wanted = [text, JSON.stringify(text).slice(1, -1)].map((one) => one.toLowerCase());
    tests.push((line) => {
      const shown = line.toString().toLowerCase();
      return wanted.some((one) => shown.includes(one));
    });
  }
  return tests.length === 0 ? null : (line: Buffer) => tests.every((test) => test(line));
}

/** Returns whether the line contains the word, other than as the beginning of a longer word. */
function mentions(line: Buffer, word: Buffer): boolean {
  if (word.length === 0) return false;
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    const next = line[at + word.length];
    if (next === undefined || !/[\w-]/.test(String.fromCharCode(next))) return true;
  }
  return false;
}
