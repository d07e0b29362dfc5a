import { Container } from 'inversify';
import { RuntimeReconciler } from '../../../src/application/chat/runtime-reconciler.js';
import { DeploymentReconciler } from '../../../src/application/deployments/deployment-reconciler.js';
import { Clock, DesiredStateChanges, Logger } from '../../../src/application/shared/ports.js';
import { modelReconciliation } from '../../../src/bootstrap/background.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { RecordingLog } from '../../support/recording-log.js';

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
    return { runtimes, deployments, changed, models: modelReconciliation(container, ['/nonexistent']) };
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
