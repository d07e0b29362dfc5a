import { appendFileSync, existsSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type LogLevel, type LogTailLimits, logTailLimits } from '../../../src/application/operations/ports.js';
import { FileLogTail } from '../../../src/infrastructure/logging/file-log-tail.js';
import { logFiles, WinstonLogger } from '../../../src/infrastructure/logging/winston-logger.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { at, unique } from '../../support/records.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const newFile = () => join(folder.path, `${unique()}.log`);

function rotate(file: string): void {
  const names = logFiles(file);
  for (let n = names.length - 1; n > 0; n--) {
    const [from, to] = [names[n - 1] as string, names[n] as string];
    if (existsSync(from)) renameSync(from, to);
  }
}

const open = (limits: LogTailLimits) => {
  const file = newFile();
  return {
    tail: new FileLogTail(file, limits),
    write: (lines: readonly string[]) => appendFileSync(file, lines.map((line) => `${line}\n`).join('')),
    rotate: () => rotate(file),
  };
};

const plenty: LogTailLimits = { answerBytes: 1e9, searchedBytes: 1e9 };
const id = (n: number) => `job_0199f2a4-7c1e-7a57-9d0e-${String(n).padStart(12, '0')}`;
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `{"n":${from + n}}`);

describe('LogTail of files', () => {
  it('returns no lines without a log', async () => {
    const { tail } = open(plenty);
    expect(await tail.read({ most: 10, mentioning: [], levels: null })).toEqual([]);
    expect(await tail.read({ most: 10, mentioning: [id(1)], levels: null })).toEqual([]);
  });

  it('returns the newest lines, oldest first', async () => {
    const { tail, write } = open(plenty);
    write(numbered(0, 20_000));
    expect(await tail.read({ most: 1, mentioning: [], levels: null })).toEqual(['{"n":19999}']);
    expect(await tail.read({ most: 3, mentioning: [], levels: null })).toEqual(numbered(19_997, 20_000));
    expect(await tail.read({ most: 15_000, mentioning: [], levels: null })).toEqual(numbered(5_000, 20_000));
    expect(await tail.read({ most: 50_000, mentioning: [], levels: null })).toEqual(numbered(0, 20_000));
    write(['{"n":20000}']);
    expect(await tail.read({ most: 2, mentioning: [], levels: null })).toEqual(numbered(19_999, 20_001));
  });

  it('finds lines by a text in either case, and by time', async () => {
    const { tail, write } = open(plenty);
    const line = (second: number, event: string) =>
      JSON.stringify({ time: at(second).toISOString(), level: 'info', event });
    const lines = [line(1, 'Größe "one"'), line(2, 'the time is {"time":"2999"}'), line(3, 'größe two')];
    write([...lines.slice(0, 2), 'no JSON: GRÖSSE', ...lines.slice(2)]);
    const read = (filter: object) => tail.read({ most: 9, mentioning: [], levels: null, ...filter });
    expect(await read({ text: 'GRÖßE' })).toEqual([lines[0], lines[2]]);
    expect(await read({ text: '"one"' })).toEqual([lines[0]]);
    expect(await read({ text: 'no json' })).toEqual(['no JSON: GRÖSSE']);
    expect(await read({ from: at(2) })).toEqual(lines.slice(1));
    expect(await read({ to: at(2) })).toEqual(lines.slice(0, 1));
    expect(await read({ from: at(2), to: at(3), text: 'time' })).toEqual([lines[1]]);
  });

  it('returns lines of any length and in any script as they were written', async () => {
    const { tail, write } = open(plenty);
    const lines = [1, 2, 3, 65_535, 65_536, 65_537, 200_000, 4].map(
      (length) => `${'€ß𝄞ж'.repeat(length).slice(0, -1)}.`,
    );
    write(lines);
    for (const most of [1, 2, 3, 8])
      expect(await tail.read({ most, mentioning: [], levels: null })).toEqual(lines.slice(-most));
  });

  it('also reads all rotated files', async () => {
    const { tail, write, rotate } = open(plenty);
    for (let file = 0; file < 5; file++) {
      if (file > 0) rotate();
      write(numbered(file * 10, file * 10 + 10));
    }
    expect(await tail.read({ most: 13, mentioning: [], levels: null })).toEqual(numbered(37, 50));
    expect(await tail.read({ most: 100, mentioning: [], levels: null })).toEqual(numbered(0, 50));
    rotate();
    expect(await tail.read({ most: 5, mentioning: [], levels: null })).toEqual(numbered(45, 50));
  });

  it('returns the newest lines that contain a whole word', async () => {
    const { tail, write, rotate } = open(plenty);
    const about = (n: number) => [`{"n":${n},"job_id":"${id(1)}"}`, `{"n":${n},"path":"/v1/jobs/${id(1)}/cancel"}`];
    write([...about(1), `{"job_id":"${id(2)}"}`, id(1), `\\n${id(1)}\\n`]);
    rotate();
    write([...about(2), `{"job_id":"${id(1)}0"}`, `${id(1)}-${id(1)}`, `${id(1)}0 ${id(1)}`, `${id(1)}_`]);
    const all = [...about(1), id(1), `\\n${id(1)}\\n`, ...about(2), `${id(1)}-${id(1)}`, `${id(1)}0 ${id(1)}`];
    expect(await tail.read({ most: 100, mentioning: [id(1)], levels: null })).toEqual(all);
    expect(await tail.read({ most: 5, mentioning: [id(1)], levels: null })).toEqual(all.slice(-5));
    for (const none of [id(3), id(1).slice(0, -1), '', '.*', '\u0000', '\ud800', 'ж']) {
      expect(await tail.read({ most: 100, mentioning: [none], levels: null })).toEqual([]);
    }
  });

  it('returns only lines that contain all words and have one of the levels', async () => {
    const { tail, write } = open(plenty);
    const line = (level: string, more: object) => JSON.stringify({ time: at(0), level, event: 'said', ...more });
    const both = line('warn', { job_id: id(1), request_id: id(2) });
    const lines = [
      line('info', { job_id: id(1), said: { level: 'error' } }),
      both,
      line('error', { request_id: id(2) }),
    ];
    write(lines);
    const read = (mentioning: string[], levels: LogLevel[] | null) => tail.read({ most: 9, mentioning, levels });
    expect(await read([id(1), id(2)], null)).toEqual([both]);
    expect(await read([], ['error', 'warn'])).toEqual(lines.slice(1));
    expect(await read([id(1)], ['error', 'info'])).toEqual(lines.slice(0, 1));
    expect(await read([], [])).toEqual([]);
  });

  it('leaves out older lines beyond the limit of the answer', async () => {
    const { tail, write, rotate } = open({ ...plenty, answerBytes: 30 });
    write(['a'.repeat(10), 'ß'.repeat(5)]);
    rotate();
    write(['c'.repeat(10), 'd'.repeat(10)]);
    const newest = ['ß'.repeat(5), 'c'.repeat(10), 'd'.repeat(10)];
    expect(await tail.read({ most: 100, mentioning: [], levels: null })).toEqual(newest);
    write(['e'.repeat(11)]);
    expect(await tail.read({ most: 100, mentioning: [], levels: null })).toEqual(['d'.repeat(10), 'e'.repeat(11)]);
    write(['f'.repeat(100_000)]);
    expect(await tail.read({ most: 100, mentioning: [], levels: null })).toEqual([]);
  });

  it('searches for a word only up to the limit of searched bytes', async () => {
    const { tail, write, rotate } = open({ ...plenty, searchedBytes: 30 });
    write(['a word']);
    rotate();
    write(['b word', 'c'.repeat(15)]);
    expect(await tail.read({ most: 100, mentioning: ['word'], levels: null })).toEqual(['a word', 'b word']);
    write(['']);
    expect(await tail.read({ most: 100, mentioning: ['word'], levels: null })).toEqual(['b word']);
  });

  const numbers = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { n: number }).n);

  const nine = { most: 9, mentioning: [], levels: null };

  it('leaves out a line that is still being written', async () => {
    const file = newFile();
    const tail = new FileLogTail(file);
    appendFileSync(file, 'half');
    expect(await tail.read(nine)).toEqual([]);
    appendFileSync(file, ' a line\nanother');
    expect(await tail.read(nine)).toEqual(['half a line']);
    appendFileSync(file, '.'.repeat(200_000));
    expect(await tail.read(nine)).toEqual(['half a line']);
  });

  it('reads the files that the logger has written and rotated', async () => {
    const file = newFile();
    const log = new WinstonLogger({ file, level: 'info', stderr: false }, new ManualClock(at(0)));
    const padding = 'x'.repeat(250_000);
    for (let n = 0; n < 180; n++) {
      log.info('said', { n, padding });
      if (n % 40 === 0) await log.flush();
    }
    await log.flush();
    expect(existsSync(logFiles(file)[1] as string)).toBe(true);
    const tail = new FileLogTail(file, { ...logTailLimits, answerBytes: 1e9 });
    expect(numbers(await tail.read({ most: 1_000, mentioning: [], levels: null }))).toEqual([...Array(180).keys()]);
    await log.close();
  });

  it('loses no line and repeats no line when the files are rotated during a read', async () => {
    const file = newFile();
    const tail = new FileLogTail(file);
    let n = 0;
    const write = () => appendFileSync(file, `{"n":${n++},"padding":"${'x'.repeat(200_000)}"}\n`);
    for (let ticks = 0; ticks < 40; ticks++) {
      write();
      const reading = tail.read({ most: 3, mentioning: [], levels: null });
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      rotate(file);
      expect(numbers(await reading)).toEqual([n - 3, n - 2, n - 1].filter((one) => one >= 0));
    }
  });

  it('returns only whole lines when a file is truncated during a read', async () => {
    const file = newFile();
    const tail = new FileLogTail(file);
    for (let ticks = 0; ticks < 20; ticks++) {
      appendFileSync(file, 'a line\n'.repeat(100_000));
      const reading = tail.read({ most: 100_000, mentioning: [], levels: null });
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      truncateSync(file);
      expect((await reading).filter((line) => line !== 'a line')).toEqual([]);
    }
  });
});
