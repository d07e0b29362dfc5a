import { Logger, runOnce } from 'graphile-worker';
import type { TaskWorker } from '../../../src/application/shared/ports.js';
import type { Envelope } from '../../../src/infrastructure/typeorm/queue/task-runner.js';
import { poolOf } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import type { TestApp } from './test-app.js';

const quiet = new Logger(() => () => undefined);

/** Runs the waiting tasks of a `TestApp`, which has no background work. */
export async function runTasks({ source }: TestApp, workers: Readonly<Record<string, TaskWorker>>): Promise<void> {
  const { signal } = new AbortController();
  const running = (worker: TaskWorker) => (task: unknown) =>
    worker.run((task as Envelope).payload, { number: 1, signal });
  const taskList = Object.fromEntries(Object.entries(workers).map(([name, worker]) => [name, running(worker)]));
  await runOnce({ pgPool: poolOf(source), taskList, logger: quiet, noHandleSignals: true });
}
