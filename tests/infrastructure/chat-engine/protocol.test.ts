import { basename } from 'node:path';
import { callOf, reportOf } from '../../../src/infrastructure/chat-engine/protocol.js';
import { OutputLines, OutputTail } from '../../../src/infrastructure/child-process/process-output.js';
import { withoutPaths } from '../../../src/infrastructure/child-process/without-paths.js';
import { WaitEstimate } from '../../../src/infrastructure/runtimes/fair-queue.js';
import { RestartDelays } from '../../../src/infrastructure/runtimes/restart-delays.js';

describe('a report', () => {
  const completed = {
    type: 'completed',
    call: 3,
    text: 'Hi',
    finishReason: 'stop',
    promptTokens: 5,
    cachedTokens: 2,
    completionTokens: 1,
    firstTokenMs: 0.5,
    tookMs: 1.5,
  };

  it.each([{ type: 'ready', maxBatch: 8 }, { type: 'broken', reason: 'x' }, { type: 'cancelled', call: 0 }, completed])(
    'is believed: %j',
    (message) => {
      expect(reportOf(message)).toEqual(message);
    },
  );

  it.each([
    null,
    undefined,
    7,
    'ready',
    [],
    {},
    { type: 'toString' },
    { type: ['ready'] },
    { type: 'broken' },
    { type: 'ready' },
    { type: 'ready', maxBatch: 0 },
    { type: 'tokenized', call: 1, promptTokens: -1 },
    { type: 'tokenized', call: 1.5, promptTokens: 1 },
    { type: 'too_long', call: 1, promptTokens: 9, context: 8 },
    { ...completed, text: null },
    { ...completed, finishReason: 'abort' },
    { ...completed, completionTokens: '1' },
    { ...completed, cachedTokens: -1 },
    { ...completed, firstTokenMs: null },
    { ...completed, tookMs: Number.NaN },
    { ...completed, call: undefined },
  ])('is not believed: %j', (message) => {
    expect(reportOf(message)).toBeNull();
  });

  it('may be told to be about a call, even where it is not believed', () => {
    expect([{ call: 4 }, { call: '4' }, null, 'x'].map(callOf)).toEqual([4, null, null, null]);
  });
});

describe('what a process writes', () => {
  const linesOf = (...chunks: (string | Buffer)[]) => {
    const taken: string[] = [];
    const lines = new OutputLines((line) => taken.push(line));
    for (const chunk of chunks) lines.write(Buffer.from(chunk as string));
    lines.end();
    return taken;
  };

  it('comes line by line, wherever it was cut', () => {
    const accented = Buffer.from('é');
    expect(linesOf('on', 'e\r\ntwo\n\n', accented.subarray(0, 1), accented.subarray(1), '\nlast')).toEqual([
      'one',
      'two',
      'é',
      'last',
    ]);
  });

  it('comes in pieces where a line does not end', () => {
    expect(linesOf('x'.repeat(5_000), 'y'.repeat(5_000)).map(({ length }) => length)).toEqual([4_096, 904, 4_096, 904]);
    expect(linesOf(`${'x'.repeat(5_000)}\n`).map(({ length }) => length)).toEqual([4_096, 904]);
  });

  it('comes without the codes of a terminal', () => {
    expect(linesOf('\u001b[0;93mwarning\u001b[m\n')).toEqual(['warning']);
  });

  it('is kept to its end', () => {
    const tail = new OutputTail(10);
    for (const chunk of ['abc', 'd'.repeat(20), 'end\n']) tail.write(Buffer.from(chunk));
    expect(tail.text).toBe('ddddddend');
  });

  it.each([
    ["Cannot find module '/a/b c/d.js'", "Cannot find module 'd.js'"],
    ['at load (/srv/app/dist/main.js:3:7)', 'at load (main.js:3:7)'],
    ['at file:///srv/app/main.js:1', 'at main.js:1'],
    ['node:internal/modules/cjs/loader:1215', 'node:internal/modules/cjs/loader:1215'],
    ['see https://example.com/a/b or onnx/model.onnx, 3/4', 'see https://example.com/a/b or onnx/model.onnx, 3/4'],
  ])('is shown without the paths of the machine: %s', (text, shown) => {
    expect(withoutPaths(text)).toBe(shown);
  });

  it.each([
    ["last words in /srv/odd folder/it's (new)/dist/worker.js", 'last words in worker.js'],
    ["at load (/srv/odd folder/it's (new)/dist/main.js:3:7)", 'at load (main.js:3:7)'],
    ["at file:///srv/odd%20folder/it's%20(new)/main.js:1", 'at main.js:1'],
    ["Cannot find module '/srv/odd folder/it's (new)/a b/c.js'", "Cannot find module 'c.js'"],
    ['no /srv/odd folder/x/a.js, nor /srv/odd folder.', 'no a.js, nor odd folder.'],
    ['see https://example.com/srv/odd folder/x', 'see https://example.com/srv/odd folder/x'],
  ])('is shown without the paths of known folders, whatever their names: %s', (text, shown) => {
    expect(withoutPaths(text, '/srv/odd folder', "/srv/odd folder/it's (new)")).toBe(shown);
  });

  it('is shown without the paths of the service itself', () => {
    expect(withoutPaths(`last words in ${__filename}`)).toBe(`last words in ${basename(__filename)}`);
  });
});

describe('the waiting time', () => {
  it('follows the latest answers and how many come before, from 1 to 60 whole seconds', () => {
    const time = new WaitEstimate();
    expect(time.seconds(1)).toBe(1);
    time.record(3_000);
    time.record(6_100);
    expect(time.seconds(1)).toBe(5);
    expect(time.seconds(4)).toBe(19);
    expect(time.seconds(0.5)).toBe(3);
    for (let i = 0; i < 8; i++) time.record(500_000);
    expect(time.seconds(1)).toBe(60);
    for (let i = 0; i < 8; i++) time.record(20);
    expect(time.seconds(1)).toBe(1);
  });
});

describe('the delays of restarts', () => {
  it('double up to their bound, with some chance in each', () => {
    const series = () => {
      const delays = new RestartDelays({ first: 500, max: 30_000 });
      return Array.from({ length: 2_000 }, () => delays.next());
    };
    const delays = series();
    for (const [i, most] of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      expect(delays[i]).toBeGreaterThanOrEqual(most / 2);
      expect(delays[i]).toBeLessThanOrEqual(most);
    }
    expect(Math.max(...delays)).toBeLessThanOrEqual(30_000);
    expect(series()).not.toEqual(delays);
  });

  it('begin anew after a reset', () => {
    const delays = new RestartDelays({ first: 100, max: 1_000 });
    for (let i = 0; i < 5; i++) delays.next();
    delays.reset();
    expect(delays.next()).toBeLessThanOrEqual(100);
  });
});
