import { type LogTail, type LogTailQuery, logTailLimits } from '../../../src/application/operations/ports.js';

/** For unit tests: the end of the lines that they give. */
export class MemoryLogTail implements LogTail {
  readonly file = '/memory/tenon.log';

  constructor(
    private readonly lines: readonly string[],
    private readonly limits = logTailLimits,
  ) {}

  async read({ most, mentioning }: LogTailQuery): Promise<string[]> {
    const newest = this.lines.toReversed();
    if (mentioning === null) return within(newest, this.limits.answerBytes, 0).slice(0, most).reverse();
    const searched = within(newest, this.limits.searchedBytes, 1);
    const found = searched.filter((line) => mentions(line, mentioning));
    return within(found, this.limits.answerBytes, 0).slice(0, most).reverse();
  }
}

/** The first lines that have so many bytes together, with so many more for the end of each. */
function within(lines: readonly string[], limit: number, ends: number): string[] {
  let bytes = 0;
  const beyond = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + ends;
    return bytes > limit;
  });
  return lines.slice(0, beyond < 0 ? undefined : beyond);
}

const mentions = (line: string, word: string) =>
  word !== '' && line.split(word).some((after, n) => n > 0 && !/^[\w-]/.test(after));
