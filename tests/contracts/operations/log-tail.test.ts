import { appendFileSync, existsSync, ftruncateSync, openSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { logTailLimits } from '../../../src/application/operations/ports.js';
import { FileLogTail } from '../../../src/infrastructure/logging/file-log-tail.js';
import { logFiles, WinstonLogger } from '../../../src/infrastructure/logging/winston-logger.js';
import { MemoryLogTail } from '../../fakes/operations/memory-log-tail.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { at, unique } from '../../support/records.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { logTailContract } from './log-tail.contract.js';

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

logTailContract('files', async (limits) => {
  const file = newFile();
  return {
    tail: new FileLogTail(file, limits),
    write: async (lines) => appendFileSync(file, lines.map((line) => `${line}\n`).join('')),
    rotate: async () => rotate(file),
  };
});

logTailContract('memory', async (limits) => {
  const lines: string[] = [];
  return {
    tail: new MemoryLogTail(lines, limits),
    write: async (more) => void lines.push(...more),
    rotate: async () => undefined,
  };
});

describe('LogTail of files', () => {
  const numbers = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { n: number }).n);

  it('leaves out a line that is still being written', async () => {
    const file = newFile();
    const tail = new FileLogTail(file);
    appendFileSync(file, 'half');
    expect(await tail.read({ most: 9, mentioning: null })).toEqual([]);
    appendFileSync(file, ' a line\nanother');
    expect(await tail.read({ most: 9, mentioning: null })).toEqual(['half a line']);
    appendFileSync(file, '.'.repeat(200_000));
    expect(await tail.read({ most: 9, mentioning: null })).toEqual(['half a line']);
  });

  it('reads what the log has written and rotated', async () => {
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
    expect(numbers(await tail.read({ most: 1_000, mentioning: null }))).toEqual([...Array(180).keys()]);
    await log.close();
  });

  it('loses and doubles nothing when the files are rotated while it reads', async () => {
    const file = newFile();
    const tail = new FileLogTail(file);
    let n = 0;
    const write = () => appendFileSync(file, `{"n":${n++},"padding":"${'x'.repeat(200_000)}"}\n`);
    for (let ticks = 0; ticks < 40; ticks++) {
      write();
      const reading = tail.read({ most: 3, mentioning: null });
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      rotate(file);
      expect(numbers(await reading)).toEqual([n - 3, n - 2, n - 1].filter((one) => one >= 0));
    }
  });

  it('gives what it has when a file is cut while it reads', async () => {
    const file = newFile();
    const tail = new FileLogTail(file);
    for (let ticks = 0; ticks < 20; ticks++) {
      appendFileSync(file, 'a line\n'.repeat(100_000));
      const reading = tail.read({ most: 100_000, mentioning: null });
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      truncateSync(file);
      expect((await reading).filter((line) => line !== 'a line')).toEqual([]);
    }
  });

  it('reads the end of a file whatever its length', async () => {
    const file = newFile();
    ftruncateSync(openSync(file, 'w'), 3 * 1024 ** 3);
    appendFileSync(file, '\nfirst\nsecond\n');
    const tail = new FileLogTail(file);
    expect(await tail.read({ most: 2, mentioning: null })).toEqual(['first', 'second']);
    expect(await tail.read({ most: 10_000, mentioning: null })).toEqual(['first', 'second']);
    expect(await tail.read({ most: 10_000, mentioning: 'first' })).toEqual(['first']);
  });
});
