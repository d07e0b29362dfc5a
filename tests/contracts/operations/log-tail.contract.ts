import type { LogTail, LogTailLimits } from '../../../src/application/operations/ports.js';

export interface LogTailUnderTest {
  readonly tail: LogTail;
  /** Appends lines to the log. */
  write(lines: readonly string[]): Promise<void>;
  /** Begins a new file. */
  rotate(): Promise<void>;
}

const plenty: LogTailLimits = { answerBytes: 1e9, searchedBytes: 1e9 };
const id = (n: number) => `job_0199f2a4-7c1e-7a57-9d0e-${String(n).padStart(12, '0')}`;
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `{"n":${from + n}}`);

export function logTailContract(adapter: string, open: (limits: LogTailLimits) => Promise<LogTailUnderTest>) {
  describe(`LogTail of ${adapter}`, () => {
    it('has no lines where nothing was logged', async () => {
      const { tail } = await open(plenty);
      expect(await tail.read({ most: 10, mentioning: null })).toEqual([]);
      expect(await tail.read({ most: 10, mentioning: id(1) })).toEqual([]);
    });

    it('gives the newest lines, oldest first', async () => {
      const { tail, write } = await open(plenty);
      await write(numbered(0, 20_000));
      expect(await tail.read({ most: 1, mentioning: null })).toEqual(['{"n":19999}']);
      expect(await tail.read({ most: 3, mentioning: null })).toEqual(numbered(19_997, 20_000));
      expect(await tail.read({ most: 15_000, mentioning: null })).toEqual(numbered(5_000, 20_000));
      expect(await tail.read({ most: 50_000, mentioning: null })).toEqual(numbered(0, 20_000));
      await write(['{"n":20000}']);
      expect(await tail.read({ most: 2, mentioning: null })).toEqual(numbered(19_999, 20_001));
    });

    it('gives lines of any length and in any script as they were written', async () => {
      const { tail, write } = await open(plenty);
      const lines = [1, 2, 3, 65_535, 65_536, 65_537, 200_000, 4].map(
        (length) => `${'€ß𝄞ж'.repeat(length).slice(0, -1)}.`,
      );
      await write(lines);
      for (const most of [1, 2, 3, 8]) expect(await tail.read({ most, mentioning: null })).toEqual(lines.slice(-most));
    });

    it('goes on before a rotation, through all files that there are', async () => {
      const { tail, write, rotate } = await open(plenty);
      for (let file = 0; file < 5; file++) {
        if (file > 0) await rotate();
        await write(numbered(file * 10, file * 10 + 10));
      }
      expect(await tail.read({ most: 13, mentioning: null })).toEqual(numbered(37, 50));
      expect(await tail.read({ most: 100, mentioning: null })).toEqual(numbered(0, 50));
      await rotate();
      expect(await tail.read({ most: 5, mentioning: null })).toEqual(numbered(45, 50));
    });

    it('gives the newest of the lines that mention a word, and none of a longer word', async () => {
      const { tail, write, rotate } = await open(plenty);
      const about = (n: number) => [`{"n":${n},"job_id":"${id(1)}"}`, `{"n":${n},"path":"/v1/jobs/${id(1)}/cancel"}`];
      await write([...about(1), `{"job_id":"${id(2)}"}`, id(1), `\\n${id(1)}\\n`]);
      await rotate();
      await write([...about(2), `{"job_id":"${id(1)}0"}`, `${id(1)}-${id(1)}`, `${id(1)}0 ${id(1)}`, `${id(1)}_`]);
      const all = [...about(1), id(1), `\\n${id(1)}\\n`, ...about(2), `${id(1)}-${id(1)}`, `${id(1)}0 ${id(1)}`];
      expect(await tail.read({ most: 100, mentioning: id(1) })).toEqual(all);
      expect(await tail.read({ most: 5, mentioning: id(1) })).toEqual(all.slice(-5));
      for (const none of [id(3), id(1).slice(0, -1), '', '.*', '\u0000', '\ud800', 'ж']) {
        expect(await tail.read({ most: 100, mentioning: none })).toEqual([]);
      }
    });

    it('leaves older lines out of an answer that is long enough', async () => {
      const { tail, write, rotate } = await open({ ...plenty, answerBytes: 30 });
      await write(['a'.repeat(10), 'ß'.repeat(5)]);
      await rotate();
      await write(['c'.repeat(10), 'd'.repeat(10)]);
      const newest = ['ß'.repeat(5), 'c'.repeat(10), 'd'.repeat(10)];
      expect(await tail.read({ most: 100, mentioning: null })).toEqual(newest);
      await write(['e'.repeat(11)]);
      expect(await tail.read({ most: 100, mentioning: null })).toEqual(['d'.repeat(10), 'e'.repeat(11)]);
      await write(['f'.repeat(100_000)]);
      expect(await tail.read({ most: 100, mentioning: null })).toEqual([]);
    });

    it('looks back only so far for a word', async () => {
      const { tail, write, rotate } = await open({ ...plenty, searchedBytes: 30 });
      await write(['a word']);
      await rotate();
      await write(['b word', 'c'.repeat(15)]);
      expect(await tail.read({ most: 100, mentioning: 'word' })).toEqual(['a word', 'b word']);
      await write(['']);
      expect(await tail.read({ most: 100, mentioning: 'word' })).toEqual(['b word']);
    });
  });
}
