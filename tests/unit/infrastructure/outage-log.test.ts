import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { RecordingLog } from '../../support/recording-log.js';

describe('OutageLog', () => {
  let log: RecordingLog;
  let outages: OutageLog;
  beforeEach(() => {
    jest.useFakeTimers();
    log = new RecordingLog();
    outages = new OutageLog(log);
  });
  afterEach(() => jest.useRealTimers());

  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const lines = () => log.lines.map(({ level, event }) => `${level} ${event}`);

  it('logs when the database goes away, each minute while it is away, and when it is back', () => {
    for (let second = 0; second < 130; second += 2) {
      outages.failed('one thing', refused);
      outages.failed('another', refused);
      jest.advanceTimersByTime(2_000);
    }
    outages.done();
    outages.done();
    expect(lines()).toEqual([
      'error the database is out of reach',
      'warn the database is still out of reach',
      'warn the database is still out of reach',
      'info the database is back',
    ]);
    expect(log.lines[0]?.fields).toEqual({ noticed_by: 'one thing', error: refused });
    expect(log.lines[2]?.fields).toEqual({ for_s: 120 });
    expect(log.lines[3]?.fields).toEqual({ after_s: 130 });
    outages.failed('one thing', refused);
    expect(lines().at(-1)).toBe('error the database is out of reach');
  });

  it('logs each failure that is not an outage', () => {
    const wrong = new Error('no such column');
    outages.failed('one thing', wrong, { task: 'x' });
    outages.failed('one thing', wrong, { task: 'x' });
    outages.done();
    expect(log.lines).toEqual(
      Array(2).fill({ level: 'error', event: 'one thing', fields: { task: 'x', error: wrong } }),
    );
  });
});
