import { Container } from 'inversify';
import { MailQueue } from '../../../src/application/accounts/mail-queue.js';
import { AlertAnnouncer } from '../../../src/application/alerts/alert-announcer.js';
import { ResponseRunner } from '../../../src/application/chat/response-runner.js';
import { RuntimeReconciler } from '../../../src/application/chat/runtime-reconciler.js';
import { DeploymentReconciler } from '../../../src/application/deployments/deployment-reconciler.js';
import { CallReaper } from '../../../src/application/jobs/call-reaper.js';
import { EvaluationRunner } from '../../../src/application/jobs/evaluation-runner.js';
import { CallRemoval } from '../../../src/application/record/call-removal.js';
import { Clock, DesiredStateChanges, Logger, WorkQueue } from '../../../src/application/shared/ports.js';
import { backgroundWork, modelReconciliation } from '../../../src/bootstrap/background.js';
import { loadConfig } from '../../../src/bootstrap/config/config.js';
import { createContainer } from '../../../src/bootstrap/container.js';
import { ShutdownSteps } from '../../../src/bootstrap/shutdown-steps.js';
import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { controllers } from '../../../src/interfaces/http/controllers.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { RecordingLog } from '../../support/recording-log.js';

describe('the container', () => {
  const config = loadConfig({ SERVICE_SECRET: 'secret-of-the-tests', DATABASE_URL: 'postgres://localhost/none' });
  const database = createDataSource('postgres://localhost/none');
  const container = createContainer({ config, database, logger: new MemoryLogger() });

  it.each(controllers.map((controller) => [controller.name, controller] as const))('resolves %s', (_, controller) => {
    const resolved = container.get(controller);
    expect(resolved).toBeInstanceOf(controller);
    expect(container.get(controller)).toBe(resolved);
  });
});

describe('backgroundWork', () => {
  afterEach(() => jest.useRealTimers());

  it('repeats alerts every minute, also after a failure', async () => {
    jest.useFakeTimers();
    const container = new Container();
    const queue = { register: jest.fn(), start: async () => undefined, stop: async () => undefined };
    const repeat = jest.fn(() => Promise.reject(new Error('no')));
    container.bind<unknown>(WorkQueue).toConstantValue(queue);
    container.bind<unknown>(AlertAnnouncer).toConstantValue({ repeat });
    container.bind<unknown>(CallReaper).toConstantValue({ execute: async () => undefined });
    for (const worker of [EvaluationRunner, ResponseRunner, MailQueue, CallRemoval])
      container.bind<unknown>(worker).toConstantValue({});
    container.bind(OutageLog).toConstantValue(new OutageLog(new RecordingLog()));
    const work = backgroundWork(container);
    await work.start();
    await jest.advanceTimersByTimeAsync(120_000);
    expect(repeat).toHaveBeenCalledTimes(3);
    const stopped = work.stop(1);
    await jest.advanceTimersByTimeAsync(1);
    await stopped;
  });
});

describe('modelReconciliation', () => {
  afterEach(() => jest.useRealTimers());

  const reconciler = () => ({ applyAll: jest.fn(async () => undefined), isLoading: jest.fn(async () => false) });

  const setUp = () => {
    const [runtimes, deployments] = [reconciler(), reconciler()];
    const changes = { listen: jest.fn(), stop: async () => undefined };
    const container = new Container();
    container.bind<unknown>(RuntimeReconciler).toConstantValue(runtimes);
    container.bind<unknown>(DeploymentReconciler).toConstantValue(deployments);
    container.bind(DesiredStateChanges).toConstantValue(changes);
    const log = new RecordingLog();
    container.bind(OutageLog).toConstantValue(new OutageLog(log));
    container.bind(Logger).toConstantValue(log);
    container.bind(Clock).toConstantValue(new ManualClock());
    const changed = () => changes.listen.mock.calls[0]?.[0]();
    return { runtimes, deployments, changed, models: modelReconciliation(container, async () => undefined) };
  };

  it('reconciles at once after a change, once more after a change meanwhile, and every two seconds', async () => {
    jest.useFakeTimers();
    const { runtimes, deployments, changed, models } = setUp();
    const looks = () => {
      expect(deployments.applyAll).toHaveBeenCalledTimes(runtimes.applyAll.mock.calls.length);
      return runtimes.applyAll.mock.calls.length;
    };
    await models.start();
    await jest.advanceTimersByTimeAsync(0);
    const before = looks();
    changed();
    changed();
    await jest.advanceTimersByTimeAsync(0);
    expect(looks()).toBe(before + 2);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(looks()).toBe(before + 2);
    await jest.advanceTimersByTimeAsync(1);
    expect(looks()).toBe(before + 3);
  });

  it('waits for loading models, also without the database, until a time limit or an aborted signal', async () => {
    const { runtimes, deployments, models } = setUp();
    await models.loaded(60_000);
    deployments.isLoading.mockResolvedValueOnce(true);
    runtimes.isLoading.mockRejectedValueOnce(new Error('ECONNREFUSED'));
    await models.loaded(60_000);
    expect(runtimes.isLoading).toHaveBeenCalledTimes(3);
    runtimes.isLoading.mockResolvedValue(true);
    await models.loaded(300);
    const ending = models.loaded(60_000, AbortSignal.timeout(10));
    await expect(ending).rejects.toThrow();
  });
});

const LONG = 60_000;

describe('ShutdownSteps', () => {
  it('runs the steps from the last to the first, each with its time limit', async () => {
    const ending = new ShutdownSteps();
    const ended: [string, number][] = [];
    const note = (step: string) => async (graceMs: number) => {
      ended.push([step, graceMs]);
    };
    ending.add('database', note('database'));
    ending.add('calls', note('calls'), 5);
    expect(await ending.within(LONG)).toEqual([]);
    expect(ended).toEqual([
      ['calls', 5],
      ['database', expect.any(Number)],
    ]);
    expect(ended[1]?.[1]).toBeLessThanOrEqual(LONG);
  });

  it('returns the steps that did not end in time', async () => {
    const ending = new ShutdownSteps();
    ending.add('database', async () => undefined);
    ending.add('models', () => new Promise(() => undefined));
    ending.add('calls', async () => undefined);
    expect(await ending.within(50)).toEqual(['models', 'database']);
  });

  it('also runs steps that are added during the shutdown, each step once', async () => {
    const ending = new ShutdownSteps();
    const pool = jest.fn(async () => undefined);
    const calls = jest
      .fn<Promise<unknown>, []>(async () => undefined)
      .mockImplementationOnce(async () => ending.add('pool', pool));
    const database = jest.fn(async () => undefined);
    ending.add('database', database);
    ending.add('calls', calls);
    expect(await ending.within(LONG)).toEqual([]);
    for (const end of [calls, pool, database]) expect(end).toHaveBeenCalledTimes(1);
    expect(pool.mock.invocationCallOrder[0]).toBeLessThan(database.mock.invocationCallOrder[0] as number);
  });

  const no = new Error('no');
  const fails = () => Promise.reject(no);
  const throws = () => {
    throw no;
  };
  it.each([
    ['rejects', fails],
    ['throws', throws],
  ])('runs all other steps and then fails if a step %s', async (_, end) => {
    const ending = new ShutdownSteps();
    const database = jest.fn(async () => undefined);
    ending.add('database', database);
    ending.add('calls', end);
    await expect(ending.within(LONG)).rejects.toThrow('no');
    expect(database).toHaveBeenCalled();
  });
});
