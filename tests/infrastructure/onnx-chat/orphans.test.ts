import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { exists, parentProgram } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, tinyChat, tokenId } from '../../support/onnx/model-folders.js';
import { alive, ticks } from '../../support/onnx/processes.js';
import { until } from '../../support/until.js';

// Only on Linux is it simple to see whether the child of another process is alive.
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('a runtime of a service that dies', () => {
  const folders = new ModelFolders();
  afterAll(() => folders.remove());

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
