import { readLines, summaryOf } from '../../../src/interfaces/web/console/pages/logs/log-lines.js';

describe('lines of the log', () => {
  it('are read with their time, level, event and fields', () => {
    const text = JSON.stringify({
      ...{ time: '2025-11-21T00:00:00.123Z', level: 'warn', event: 'request', request_id: 'req_1', method: 'GET' },
      ...{ path: '/v1/jobs', status: 503, ms: 2, cause: { code: 'x' } },
    });
    const [line] = readLines([text]);
    expect(line).toMatchObject({ text, time: 1763683200.123, level: 'warn', event: 'request' });
    expect(line?.fields).toEqual([
      ...[
        ['request_id', 'req_1'],
        ['method', 'GET'],
        ['path', '/v1/jobs'],
        ['status', '503'],
        ['ms', '2'],
      ],
      ['cause', '{\n  "code": "x"\n}'],
    ]);
    expect(line && summaryOf(line)).toBe('GET · /v1/jobs · 503 · 2 ms');
  });

  it('are shown unchanged if they are not JSON or have other fields', () => {
    for (const text of ['plain text', '[1]', 'null', '{"level":"loud","time":"soon"}', '{'])
      expect(readLines([text])[0]).toMatchObject({ event: text, level: null, time: null });
  });

  it('keep their keys when newer lines come and older lines go', () => {
    const keys = (...lines: string[]) => readLines(lines).map(({ key }) => key);
    expect(new Set(keys('a', 'b', 'a')).size).toBe(3);
    expect(keys('b', 'c')[0]).toBe(keys('a', 'b')[1]);
  });
});
