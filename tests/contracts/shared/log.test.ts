import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogLevel } from '../../../src/application/operations/ports.js';
import type { LogFields } from '../../../src/application/shared/ports.js';
import { CheckedTokens } from '../../../src/infrastructure/crypto/secrets.js';
import { logFiles, WinstonLogger } from '../../../src/infrastructure/logging/winston-logger.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { unique } from '../../support/records.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { logContract } from './log.contract.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const now = new Date(Date.UTC(2026, 5, 7, 8, 9, 10, 11));

function logFile(level: LogLevel = 'info', running?: () => LogFields) {
  const file = join(folder.path, `${unique()}.log`);
  const log = new WinstonLogger({ file, level, stderr: false }, new ManualClock(now), running);
  const text = async () => {
    await log.close();
    return readFileSync(file, 'utf8');
  };
  return { log, file, text };
}

logContract('winston', (running) => {
  const { log, text } = logFile('debug', running);
  const lines = async () =>
    (await text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { level: string; event: string })
      .map(({ level, event, ...rest }) => {
        const { time, ...fields } = rest as LogFields;
        expect(time).toBe(now.toISOString());
        return { level, event, fields };
      });
  return { log, lines };
});

logContract('memory', (running) => {
  const log = new MemoryLogger(running);
  return { log, lines: async () => log.lines };
});

describe('Log of winston', () => {
  it('writes JSON lines that begin with time, level and event; only the service’s user can read them', async () => {
    const { log, file, text } = logFile();
    log.info('began', { port: 1 });
    log.warn('went on');
    expect(await text()).toBe(
      '{"time":"2026-06-07T08:09:10.011Z","level":"info","event":"began","port":1}\n' +
        '{"time":"2026-06-07T08:09:10.011Z","level":"warn","event":"went on"}\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('leaves out lines below its level', async () => {
    const { log, text } = logFile('warn');
    log.info('too little');
    log.warn('enough');
    expect(await text()).toMatch(/^\{.*"enough"\}\n$/);
  });

  /** Returns the numbers of the lines in all files of a log, oldest first. */
  const numbersIn = (file: string) =>
    logFiles(file)
      .filter((name) => existsSync(name))
      .reverse()
      .flatMap((name) => readFileSync(name, 'utf8').split('\n').filter(Boolean))
      .map((line) => (JSON.parse(line) as { n: number }).n);
  const sizesOf = (file: string) =>
    readdirSync(folder.path)
      .map((name) => join(folder.path, name))
      .filter((name) => name.startsWith(file.slice(0, -'.log'.length)))
      .map((name) => statSync(name).size);

  it('is rotated by size, and the newest five files lose no line', async () => {
    const file = join(folder.path, `${unique()}.log`);
    const log = new WinstonLogger({ file, level: 'info', stderr: false, fileSize: '1K' }, new ManualClock(now));
    for (let n = 0; n < 120; n++) {
      log.info('said', { n });
      if (n % 3 === 0) await log.flush(); // lines logged between two flushes are written as one piece
    }
    await log.close();
    const numbers = numbersIn(file);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => 120 - numbers.length + n));
    expect(numbers.length).toBeGreaterThan(50);
    expect(numbers.length).toBeLessThan(120);
    expect(sizesOf(file)).toHaveLength(5);
    for (const size of sizesOf(file)) expect(size).toBeLessThanOrEqual(1_300);
  });

  it('does not throw when its file cannot be written', async () => {
    const log = new WinstonLogger({ file: '/dev/full', level: 'info', stderr: false }, new ManualClock(now));
    for (let n = 0; n < 3; n++) {
      log.info('said', { n });
      await log.flush();
    }
    await log.close();
    log.info('said too late');
  });

  it.each(['a closed pipe', 'a full disk'])(
    'survives %s behind standard error, and counts the lost lines',
    async (fault) => {
      const file = join(folder.path, `${unique()}.log`);
      const program = `
      const { WinstonLogger } = require('./dist/src/infrastructure/logging/winston-logger.js');
      const log = new WinstonLogger({ file: '${file}', level: 'info', stderr: true }, { now: () => new Date() });
      process.stdin.once('data', async () => {
        for (const n of [1, 2, 3]) { log.info('said', { n }); await log.flush(); }
        process.stderr._write = (piece, encoding, done) => done(); // takes lines again
        log.info('said', { n: 4 });
        await log.flush();
        await log.close();
        process.exit(7);
      });`;
      const full = openSync('/dev/full', 'w');
      const stdio = ['pipe', 'inherit', fault === 'a full disk' ? full : 'pipe'] as const;
      const child = spawn(process.execPath, ['-e', program], { stdio: [...stdio] });
      child.stderr?.destroy();
      child.stdin?.write('begin');
      const [status] = await once(child, 'exit');
      closeSync(full);
      expect(status).toBe(7);
      const lines = readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      expect(lines.filter(({ event }) => event === 'said').map(({ n }) => n)).toEqual([1, 2, 3, 4]);
      expect(lines.filter(({ event }) => event !== 'said')).toMatchObject([
        { event: 'standard error cannot be written', error: { code: fault === 'a full disk' ? 'ENOSPC' : 'EPIPE' } },
        { event: 'standard error has lost lines', lines: 4 },
      ]);
    },
  );

  it('escapes line breaks and control characters, so that no value forges a line or controls a terminal', async () => {
    const { log, text } = logFile();
    const forged = `a\n{"level":"info"}\r\nb\rc\u0085d\u2028e\u2029f\u001b[2Jg\u009b2Jh\u0000i\u007f`;
    log.child({ [forged]: 1 }).info(forged, { value: forged, list: [forged], error: new Error(forged) });
    const line = await text();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the line must not contain these characters.
    expect(line.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    const { event, value } = JSON.parse(line) as { event: string; value: string };
    expect([event, value]).toEqual([forged, forged]);
  });

  const named: LogFields[] = [
    { password: 'hush' },
    { passwordHash: 'hush' },
    { password: ['hush'] },
    { secrets: { inner: 'hush' } },
    { client_secret: 'hush' },
    { headers: { Authorization: 'Basic hush' } },
    { headers: { 'set-cookie': ['a=hush'] } },
    { apiKey: 'hush' },
    { api_key: 'hush' },
    { headers: { 'x-api-key': 'hush' } },
    { SERVICE_MASTER_KEY: 'hush' },
    { error: new Error('no', { cause: { reset_token: 'hush' } }) },
    { list: [{ token: 'hush' }] },
  ];
  it.each(named)('hides a secret because of the name of its field: %j', async (fields) => {
    const { log, text } = logFile();
    log.child(fields).info('event', fields);
    const line = await text();
    expect(line).not.toContain('hush');
    expect(line).toContain('[redacted]');
  });

  const { token } = new CheckedTokens().issue('session');
  const key = new CheckedTokens().issue('api_key').token;
  it.each<[string, string, string]>([
    ['a token', `it was ${token}.`, token],
    ['a token in a link', `https://tenon.example/verify-email?token=${token}&x=1`, token],
    [
      'a token in a link within a link',
      `https://mail.example/?to=https%3A%2F%2Ftenon.example%3Ftoken%3D${token}`,
      token,
    ],
    ['several', `${token},${key}`, key],
    ['a bearer credential of any form', 'Authorization: Bearer the-masterkey', 'the-masterkey'],
    ['a bearer credential in small letters', 'authorization: bearer the-masterkey', 'the-masterkey'],
    ['the password of a database', 'connect to postgres://tenon:pa55@db.example/tenon failed', 'pa55'],
    ['a password with an @ in it', 'smtp://tenon:pa55@w0rd@mail.example', 'w0rd'],
  ])('hides a secret because of its form: %s', async (_, value, secret) => {
    const { log, text } = logFile();
    log.error(value, { value, list: [{ value }], error: new Error(value, { cause: new Error(value) }), [value]: true });
    const line = await text();
    expect(line).not.toContain(secret);
    expect(line).toContain('[redacted]');
  });

  it('does not hide values that only look like secrets', async () => {
    const { log, text } = logFile();
    const fields = {
      prompt_tokens: 12,
      has_password: true,
      token: null,
      mail_id: 'msg_1',
      url: 'http://a.example:80/',
    };
    log.info('event', fields);
    expect(JSON.parse(await text())).toMatchObject(fields);
  });

  it('logs any value and never throws', async () => {
    const { log, text } = logFile();
    const circle: Record<string, unknown> = { name: 'circle' };
    circle.self = circle;
    const error: Error & { cause?: unknown } = new Error('in circles');
    error.cause = error;
    const trap = Object.defineProperty({}, 'trap', {
      enumerable: true,
      get: () => {
        throw new Error('sprung');
      },
    });
    const values = [circle, error, 10n, Symbol('s'), () => 1, new Date(Number.NaN), Number.NaN, undefined, trap];
    for (const value of values) log.info('given', { value, list: [value] });
    const lines = (await text()).trimEnd().split('\n');
    expect(lines).toHaveLength(values.length);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ event: 'given' });
    expect(lines[0]).toContain('"name":"circle"');
    expect(lines[1]).toContain('"message":"in circles"');
    expect(lines[2]).toContain('"value":"10"');
  });
});
