import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { exists, parentProgram } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, tinyChat, tokenId } from '../../support/onnx/model-folders.js';
import { alive, ticks } from '../../support/onnx/processes.js';

/** Only Linux tells so simply whether a process of somebody else lives. */
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('a runtime whose service dies', () => {
  const folders = new ModelFolders();
  afterAll(() => folders.remove());

  let parent: ChildProcess;
  let child = 0;
  afterEach(() => {
    for (const pid of [parent.pid ?? 0, child]) if (pid && exists(pid)) process.kill(pid, 'SIGKILL');
  });

  /** Runs a parent with a runtime, until it reports the stage. */
  const run = async (stage: string, ...args: string[]) => {
    parent = fork(parentProgram, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    for (;;) {
      const [report] = await once(parent, 'message');
      child = report.pid;
      if (report.stage === stage) return;
    }
  };

  const endOf = async (signal: NodeJS.Signals): Promise<number> => {
    expect(alive(child)).toBe(true);
    parent.kill(signal);
    const begun = performance.now();
    while (alive(child) && performance.now() - begun < 8_000) await pause(5);
    return performance.now() - begun;
  };

  it.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])('ends with it: %s', async (signal) => {
    await run('ready', tinyChat);
    expect(await endOf(signal)).toBeLessThan(5_000);
  });

  it('ends with it while it is still starting', async () => {
    await run('started', tinyChat);
    expect(await endOf('SIGKILL')).toBeLessThan(5_000);
  });

  it('ends with it while its main thread is inside native code', async () => {
    await run('ready', folders.toy({ endlessToken: tokenId('#') }), '#');
    const idle = ticks(child);
    while (ticks(child) < idle + 20) await pause(5);
    expect(await endOf('SIGKILL')).toBeLessThan(5_000);
  });
});
