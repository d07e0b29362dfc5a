import type { FileHandle } from 'node:fs/promises';

const BLOCK = 64 * 1024;
const LINE_BREAK = 0x0a;

/**
 * The whole lines of a file, the last one first, some at a time; they are valid only until the next ones are asked for.
 * A last line without its end is still being written, so it is none. Ends early, with false, at a line that is longer
 * than `longest`.
 */
export async function* linesBackwards(file: FileHandle, longest: number): AsyncGenerator<Buffer[], boolean> {
  const block = Buffer.allocUnsafe(BLOCK);
  let { size: start } = await file.stat();
  let isWhole = false;
  /** What was read of the line that begins further ahead. */
  let rest: Buffer[] = [];
  let restBytes = 0;
  while (start > 0) {
    const length = Math.min(BLOCK, start);
    start -= length;
    if (!(await filled(block, file, start, length))) return false;
    const lines: Buffer[] = [];
    let end = length;
    for (let at = lineBreakBefore(block, end); at >= 0; at = lineBreakBefore(block, end)) {
      const line = block.subarray(at + 1, end);
      if (isWhole) lines.push(rest.length > 0 ? Buffer.concat([line, ...rest]) : line);
      rest = [];
      restBytes = 0;
      isWhole = true;
      end = at;
    }
    yield lines;
    rest.unshift(Buffer.from(block.subarray(0, end)));
    restBytes += end;
    if (restBytes > longest) return false;
  }
  if (isWhole) yield [Buffer.concat(rest)];
  return true;
}

const lineBreakBefore = (block: Buffer, end: number) => (end > 0 ? block.lastIndexOf(LINE_BREAK, end - 1) : -1);

/** Not where somebody has cut the file in the meantime. */
async function filled(block: Buffer, file: FileHandle, start: number, length: number): Promise<boolean> {
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(block, done, length - done, start + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}
