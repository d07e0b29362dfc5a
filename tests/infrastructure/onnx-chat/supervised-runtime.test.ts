import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { TooManyProcesses } from '../../../src/domain/shared/errors.js';
import { ChildLimits } from '../../../src/infrastructure/child-process/child-limits.js';
import { callOf, reportOf } from '../../../src/infrastructure/onnx-chat/protocol.js';
import { ChildRuntimesRig, exists, oddWorker, parentProgram } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, tinyChat, tokenId, withFields } from '../../support/onnx/model-folders.js';
import { alive, ticks } from '../../support/onnx/processes.js';
import { until } from '../../support/until.js';

const folders = new ModelFolders();
const toy = folders.toy();
/** Gets an answer of eight tokens from the toy model. */
const question = 'Count to 6.';
const answer = { text: expect.stringMatching(/^ pencillose ti/), finishReason: 'stop', completionTokens: 8 };
afterAll(() => folders.remove());

let rig: ChildRuntimesRig;
const use = (settings: ConstructorParameters<typeof ChildRuntimesRig>[0] = {}) => {
  rig = new ChildRuntimesRig(settings);
  return rig;
};
afterEach(() => rig?.runtimes.close());

/** Returns the target of an open file, unless it was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return 'closed';
  }
}

describe('a runtime with a dead process', () => {
  it('has the last output in its reason, without the paths of the machine, and every line in the log', async () => {
    use({ worker: oddWorker, restartDelayMs: { first: 10_000, max: 10_000 } });
    const { state, reason } = await rig.start('/models/wordy');
    expect(state).toBe('unavailable');
    expect(reason).toMatch(/^its process ended \(exit code 3\): xxx/);
    expect(reason).toMatch(/last words in odd-worker\.js$/);
    expect(reason?.length).toBeGreaterThan(8_000);
    expect(reason?.length).toBeLessThan(8 * 1_024 + 100);
    const lines = rig.log.of('chat runtime output').map(({ fields }) => fields);
    expect(lines).toContainEqual({ runtime: 'a', stream: 'stdout', line: 'second line' });
    expect(lines).toContainEqual({ runtime: 'a', stream: 'stderr', line: expect.stringMatching(/^last words in/) });
    expect(lines.filter(({ line }) => /^x+$/.test(String(line))).join('')).not.toBe('');
  });
});

describe('a chat model', () => {
  it.each([
    ['takes batches and shares prefixes', tinyChat, { at_once: 16, prefix_cache: true }],
    ['rounds its inner values', folders.random({ quantized: 'blocks' }), { at_once: 1, prefix_cache: false }],
  ])('is logged when it is loaded: one that %s', async (_, folder, fields) => {
    use({ atOnce: 16 });
    await rig.start(folder);
    expect(rig.log.of('chat model loaded')).toMatchObject([{ level: 'info', fields: { runtime: 'a', ...fields } }]);
  });
});

describe('a runtime without room on the instance', () => {
  it('is refused, or unavailable until there is room', async () => {
    use({ children: new ChildLimits(1) });
    await rig.start(toy);
    const source = { kind: 'onnx', folder: toy };
    const full = expect.stringContaining('SERVICE_MAX_CHILDREN');
    expect(() => rig.runtimes.requireRoom('a', source)).not.toThrow();
    expect(() => rig.runtimes.requireRoom('b', source)).toThrow(TooManyProcesses);
    expect(await rig.start(toy, 'b')).toEqual({ state: 'unavailable', reason: full });
    await expect(rig.ask('Hi', { id: 'b' })).rejects.toMatchObject({ code: 'runtime_unavailable', message: full });
    await rig.runtimes.stop('a');
    await rig.log.saw('chat runtime ready', 2);
    expect(rig.runtimes.status('b').state).toBe('ready');
  });
});

describe('a runtime that hangs', () => {
  it('is restarted if it does not confirm that a caller has left', async () => {
    use({ worker: oddWorker, timeoutMs: 100, stopGraceMs: 50 });
    await rig.start('/models/deaf');
    const leaving = new AbortController();
    const call = rig.ask('Hi', { signal: leaving.signal });
    leaving.abort('gone');
    await expect(call).rejects.toBe('gone');
    await rig.log.saw('chat runtime ready', 2);
  });

  it('gives a caller with fewer calls a place while the tokens of prompts are counted', async () => {
    use({ worker: oddWorker, queue: 2, timeoutMs: 10_000 });
    await rig.start('/models/mute');
    const greedy = Array.from({ length: 11 }, () => rig.ask('Hi', { caller: 'a' }));
    const refused = expect(greedy.pop()).rejects.toMatchObject({ code: 'model_busy' });
    const outcomes = Promise.allSettled(greedy);
    await expect(rig.ask('Hi', { caller: 'a' })).rejects.toMatchObject({ code: 'model_busy' });
    const modest = rig.ask('Hi', { caller: 'b' });
    await refused;
    await expect(rig.ask('Hi', { caller: 'a' })).rejects.toMatchObject({ code: 'model_busy' });
    const stopped = expect(modest).rejects.toMatchObject({ code: 'runtime_stopped' });
    await rig.runtimes.close();
    await stopped;
    for (const one of await outcomes) expect(one).toMatchObject({ reason: { code: 'runtime_stopped' } });
  });

  it('is ended if it hangs while it counts tokens; until then, other calls are answered', async () => {
    use({ atOnce: 2, timeoutMs: 2_500, stopGraceMs: 200 });
    const endless = '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}';
    const template = (text: string) => JSON.parse(text).chat_template;
    const changed = (text: string) =>
      withFields({ chat_template: `{% if messages[0].content == 'Hang' %}${endless}{% endif %}${template(text)}` })(
        text,
      );
    await rig.start(folders.toy({}, { 'tokenizer_config.json': changed }));
    const [counted, stuck] = [rig.ask(question), rig.ask('Hang', { caller: 'usr_b' })];
    const refused = expect(stuck).rejects.toMatchObject({ code: 'inference_timeout' });
    expect(await counted).toMatchObject(answer);
    await refused;
    await rig.log.saw('chat runtime unavailable');
    expect(rig.runtimes.status('a').reason).toBe('it did not react to a cancelled call');
    await rig.log.saw('chat runtime ready', 2);
  });

  it('is stopped while it is inside native code', async () => {
    use();
    await rig.start(folders.toy({ endlessToken: tokenId('#') }));
    const call = expect(rig.ask('#')).rejects.toMatchObject({ code: 'runtime_stopped' });
    await rig.runtimes.stop('a');
    await call;
    expect(rig.processes()).toEqual([]);
  });
});

describe('a runtime that sends invalid reports', () => {
  it.each(['hasty', 'chatty'])('fails the call: %s', async (behaviour) => {
    use({ worker: oddWorker });
    await rig.start(`/models/${behaviour}`);
    await expect(rig.ask('Hi')).rejects.toMatchObject({ code: 'runtime_invalid_response' });
    expect(rig.runtimes.status('a').state).toBe('ready');
  });

  it('has its valid reports accepted', async () => {
    use({ worker: oddWorker });
    await rig.start('/models/nameless');
    expect(await rig.ask('Hi')).toMatchObject({ text: 'Hi', promptTokens: 3, completionTokens: 1 });
    expect(rig.log.of('chat runtime sent nonsense').length).toBeGreaterThan(3);
  });
});

describe('a stream that is read too slowly', () => {
  it('fails, and frees its place', async () => {
    use({ worker: oddWorker });
    await rig.start('/models/flooding');
    let read = '';
    const reading = (async () => {
      for await (const { text } of rig.stream('Hi')) {
        read += text;
        await until('the place is free', () => rig.runtimes.figures().get('a')?.running === 0, 5);
      }
    })();
    await expect(reading).rejects.toMatchObject({ message: 'The stream was not read fast enough.' });
    expect(read).toHaveLength(400_000);
  });
});

describe('a call that its caller has left', () => {
  it('frees its place before the process confirms the cancellation', async () => {
    use({ worker: oddWorker });
    await rig.start('/models/forgetful');
    const leaving = new AbortController();
    const calls = [rig.ask('Hi', { signal: leaving.signal }), rig.ask('Hi')];
    await expect(rig.ask('Hi')).rejects.toMatchObject({ code: 'model_busy' });
    leaving.abort('gone');
    await expect(calls[0]).rejects.toBe('gone');
    expect(await calls[1]).toMatchObject({ text: 'Hi' });
  });
});

describe('the process of a runtime', () => {
  (process.platform === 'linux' ? it : it.skip)('sees only the listed variables of the environment', async () => {
    process.env.SERVICE_MASTER_KEY = 'secret-of-the-service';
    process.env.LD_PRELOAD_NOT_LISTED = 'neither-this';
    try {
      use();
      await rig.start(toy);
      const environment = readFileSync(`/proc/${rig.pid()}/environ`, 'utf8');
      expect(environment).toMatch(/NODE_CHANNEL_FD/);
      expect(environment).toMatch(/ORT_DISABLE_TELEMETRY=1/);
      expect(environment).not.toMatch(/secret-of-the-service|SERVICE_|neither-this|HOME=/);
      const open = readdirSync(`/proc/${rig.pid()}/fd`).map((fd) => linkOf(`/proc/${rig.pid()}/fd/${fd}`));
      expect(open.join()).not.toMatch(/mat-debug|telemetry|\.cache/);
      expect(readFileSync(`/proc/${rig.pid()}/cmdline`, 'utf8').split('\0').filter(Boolean)).toHaveLength(2);
    } finally {
      delete process.env.SERVICE_MASTER_KEY;
      delete process.env.LD_PRELOAD_NOT_LISTED;
    }
  });

  it('does not end by itself when a terminal interrupts its group', async () => {
    use();
    await rig.start(toy);
    rig.kill('a', 'SIGINT');
    expect(await rig.ask(question)).toMatchObject(answer);
  });
});

// Only on Linux is it simple to see whether the child of another process is alive.
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('a runtime of a service that dies', () => {
  let parent: ChildProcess;
  let child = 0;
  afterEach(() => {
    for (const pid of [parent.pid ?? 0, child]) if (pid && exists(pid)) process.kill(pid, 'SIGKILL');
  });

  /** Starts a parent with a runtime. Waits until the parent reports the stage. */
  const run = async (stage: string, ...args: string[]) => {
    parent = fork(parentProgram, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    for (;;) {
      const [report] = await once(parent, 'message');
      child = report.pid;
      if (report.stage === stage) return;
    }
  };

  const endsWith = async (signal: NodeJS.Signals): Promise<void> => {
    expect(alive(child)).toBe(true);
    parent.kill(signal);
    await until('the child has ended, too', () => !alive(child), 5);
  };

  it.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])('ends with the service: %s', async (signal) => {
    await run('ready', tinyChat);
    await endsWith(signal);
  });

  it('ends with the service while the runtime is still starting', async () => {
    await run('started', tinyChat);
    await endsWith('SIGKILL');
  });

  it('ends with the service while the runtime is inside native code', async () => {
    await run('ready', folders.toy({ endlessToken: tokenId('#') }), '#');
    const idle = ticks(child);
    await until('the child computes', () => ticks(child) >= idle + 20, 5);
    await endsWith('SIGKILL');
  });
});

const sideThread = join(process.cwd(), 'dist/src/infrastructure/onnx-chat/worker/chat-worker.js');

describe('a process with a second thread', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-thread-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['fails', "setImmediate(() => { throw new Error('last words') })", /last words/],
    ['ends', '', /a thread ended with code 0/],
  ])('ends when the thread %s', async (name, program, words) => {
    const file = join(folder, `${name}.js`);
    writeFileSync(file, program);
    const beside = relative(dirname(sideThread), file);
    const main = `new (require(${JSON.stringify(sideThread)}).Thread)(${JSON.stringify(beside)}, () => {});
      setInterval(() => {}, 1000);`;
    await expect(promisify(execFile)('node', ['-e', main])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(words),
    });
  });
});

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
    betweenTokensMs: [0.5],
    tookMs: 1.5,
  };

  const token = { token: 'H', bytes: [72], logprob: -1 };
  const parts = { type: 'parts', parts: [{ call: 3, text: 'H', logprobs: [{ ...token, top: [token] }] }] };

  it.each([
    { type: 'ready', task: 'chat', maxBatch: 8, context: 512 },
    { type: 'broken', reason: 'x' },
    { type: 'cancelled', call: 0 },
    completed,
    parts,
  ])('is accepted: %j', (message) => {
    expect(reportOf(message)).toEqual(message);
  });

  it.each([
    null,
    undefined,
    {},
    { type: 'toString' },
    { type: 'broken' },
    { type: 'ready', task: 'chat', maxBatch: 0, context: 512 },
    { type: 'tokenized', call: 1, promptTokens: -1, room: 1 },
    { type: 'tokenized', call: 1.5, promptTokens: 1, room: 1 },
    { type: 'tokenized', call: 1, promptTokens: 1 },
    { type: 'parts', parts: [{ call: 1 }] },
    { type: 'parts', parts: [{ call: 1, text: '', logprobs: [token] }] },
    { type: 'too_long', call: 1, promptTokens: 9, context: 8 },
    { ...completed, text: null },
    { ...completed, finishReason: 'abort' },
    { ...completed, completionTokens: '1' },
    { ...completed, tookMs: Number.NaN },
    { ...completed, call: undefined },
  ])('is refused: %j', (message) => {
    expect(reportOf(message)).toBeNull();
  });

  it('can name its call, even if it is refused', () => {
    expect([{ call: 4 }, { call: '4' }, null, 'x'].map(callOf)).toEqual([4, null, null, null]);
  });
});
