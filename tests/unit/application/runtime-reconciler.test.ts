import { randomUUID } from 'node:crypto';
import { Breakers } from '../../../src/application/chat/breakers.js';
import { RuntimeReconciler } from '../../../src/application/chat/runtime-reconciler.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';
import { Model } from '../../../src/domain/workspace/model.js';
import { Project } from '../../../src/domain/workspace/project.js';
import { MemoryChatRuntimes } from '../../fakes/chat/memory-chat-runtimes.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { gate } from '../../support/barrier.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import { aConnection } from '../../support/records.js';
import { until } from '../../support/until.js';

const noChange = async () => undefined;

describe('RuntimeReconciler', () => {
  const store = postgresUnderTest();

  const setUp = async ({ isBroken = false } = {}) => {
    const { connections, models, projects, teams } = await store.open();
    const runtimes = new MemoryChatRuntimes();
    const owner = { teamId: 'tea_1', createdBy: 'usr_1', createdAt: new Date(0) };
    await teams.add({ id: 'tea_1', operator: false, siteKey: null, createdAt: new Date(0) });
    for (const id of ['prj_1', 'prj_2']) await projects.add(Project.create({ id, ...owner }));
    const spec = { runtime: 'onnx', path: 'chat' };
    for (const id of ['mdl_1', 'mdl_2']) {
      const draft = { id, projectId: 'prj_1', requestId: randomUUID(), spec, requestedSpec: '{}' };
      const by = { createdBy: 'usr_1', createdAt: new Date(0) };
      await models.addOnce(Model.register(Model.draft({ ...draft, ...by }), [1], new Date(0)));
    }
    await connections.save(aConnection({ projectId: 'prj_1', modelId: 'mdl_1', desired: 'stopped' }));
    const refused = new InvalidRequest([{ path: 'spec.path', message: 'must name a folder' }]);
    if (isBroken) jest.spyOn(runtimes, 'source').mockRejectedValue(refused);
    const breakers = new Breakers(new ManualClock());
    const reconciler = new RuntimeReconciler(connections, models, runtimes, breakers, new RecordingLog());
    /** Waits until nothing is started or stopped any more. */
    const settled = () => until('the runtimes are as desired', () => Reflect.get(reconciler, 'running').size === 0);
    return { connections, models, runtimes, reconciler, settled };
  };

  it('starts runtimes that are desired to run, and stops the others', async () => {
    const { connections, runtimes, reconciler } = await setUp();
    await connections.setDesired('prj_1', 'started');
    await reconciler.apply('prj_1', noChange);
    expect(runtimes.status('prj_1/mdl_1').state).not.toBe('stopped');
    await connections.setDesired('prj_1', 'stopped');
    await reconciler.apply('prj_1', noChange);
    expect(runtimes.status('prj_1/mdl_1').state).toBe('stopped');
    await connections.setDesired('prj_1', 'started');
    await reconciler.apply('prj_1', noChange);
    await connections.remove('prj_1');
    await reconciler.apply('prj_1', noChange);
    expect(runtimes.status('prj_1/mdl_1').state).toBe('stopped');
  });

  it('ends in the last stored state after many concurrent changes', async () => {
    const { connections, runtimes, reconciler } = await setUp();
    const changes = Array.from(
      { length: 21 },
      (_, n) => (n % 2 === 0 ? 'started' : 'stopped') as 'started' | 'stopped',
    );
    await Promise.all(
      changes.map(async (desired) => {
        await connections.setDesired('prj_1', desired);
        await reconciler.apply('prj_1', noChange);
      }),
    );
    const wanted = (await connections.find('prj_1'))?.desired;
    expect(runtimes.status('prj_1/mdl_1').state === 'stopped').toBe(wanted === 'stopped');
  });

  it('reports a runtime that could not be started as unavailable', async () => {
    const { connections, reconciler } = await setUp({ isBroken: true });
    await connections.setDesired('prj_1', 'started');
    await expect(reconciler.apply('prj_1', noChange)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'unavailable', reason: expect.any(String) });
  });

  it('replaces the running model by a model that another instance connected', async () => {
    const { connections, runtimes, reconciler, settled } = await setUp();
    await connections.setDesired('prj_1', 'started');
    await reconciler.applyAll();
    await settled();
    const started = jest.spyOn(runtimes, 'start');
    await connections.save(aConnection({ projectId: 'prj_1', modelId: 'mdl_2', desired: 'started' }));
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'loading', modelId: 'mdl_2' });
    await reconciler.applyAll();
    await settled();
    expect(started).toHaveBeenCalledTimes(1);
    await connections.remove('prj_1');
    await reconciler.applyAll();
    await settled();
    for (const id of ['prj_1/mdl_1', 'prj_1/mdl_2']) expect(runtimes.status(id).state).toBe('stopped');
  });

  it('stops the running model if the model that another instance connected is refused here', async () => {
    const { connections, runtimes, reconciler, settled } = await setUp();
    await connections.setDesired('prj_1', 'started');
    await reconciler.applyAll();
    await settled();
    jest.spyOn(runtimes, 'source').mockRejectedValue(new InvalidRequest([{ path: 'spec.path', message: 'is gone' }]));
    await connections.save(aConnection({ projectId: 'prj_1', modelId: 'mdl_2', desired: 'started' }));
    await reconciler.applyAll();
    await settled();
    expect(runtimes.status('prj_1/mdl_1').state).toBe('stopped');
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'unavailable', modelId: 'mdl_2' });
  });

  it('reports `loading` while the earlier model still runs', async () => {
    const { connections, models, runtimes, reconciler, settled } = await setUp();
    await connections.setDesired('prj_1', 'started');
    await reconciler.applyAll();
    await settled();
    jest.spyOn(runtimes, 'status').mockReturnValue({ state: 'ready', reason: null });
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'ready', modelId: 'mdl_1' });
    const model = (await models.find('prj_1', 'mdl_1')) as Model;
    let release: (found: Model) => void = () => undefined;
    const found = new Promise<Model>((resolve) => {
      release = resolve;
    });
    const find = jest.spyOn(models, 'find').mockReturnValue(found);
    await connections.save(aConnection({ projectId: 'prj_1', modelId: 'mdl_2', desired: 'started' }));
    await reconciler.applyAll();
    await until('the model is read', () => find.mock.calls.length > 0);
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'loading', modelId: 'mdl_2' });
    release({ ...model, id: 'mdl_2' });
    await settled();
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'ready', modelId: 'mdl_2' });
  });

  it('refuses a draft', async () => {
    const { models, reconciler } = await setUp();
    const model = (await models.find('prj_1', 'mdl_1')) as Model;
    jest.spyOn(models, 'find').mockResolvedValue({ ...model, state: 'draft' });
    const details = [expect.objectContaining({ path: 'model_id' })];
    await expect(reconciler.source({ projectId: 'prj_1', modelId: 'mdl_1' })).rejects.toMatchObject({
      advice: { details },
    });
  });

  it('retries a start that failed without a fault of the model, and does not reveal the cause', async () => {
    const { connections, models, runtimes, reconciler, settled } = await setUp();
    await connections.setDesired('prj_1', 'started');
    const away = jest.spyOn(models, 'find').mockRejectedValueOnce(new Error('connect ECONNREFUSED 10.0.0.7:5432'));
    await expect(reconciler.apply('prj_1', noChange)).rejects.toThrow('ECONNREFUSED');
    const reason = 'the service failed to start it, and tries again';
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'unavailable', reason });
    await reconciler.applyAll();
    await settled();
    expect(runtimes.status('prj_1/mdl_1').state).not.toBe('stopped');
    await reconciler.applyAll();
    await settled();
    expect(away).toHaveBeenCalledTimes(2);
  });

  it('does not retry a start that failed because of the model', async () => {
    const { connections, models, reconciler, settled } = await setUp({ isBroken: true });
    const asked = jest.spyOn(models, 'find');
    await connections.setDesired('prj_1', 'started');
    await expect(reconciler.apply('prj_1', noChange)).rejects.toMatchObject({ code: 'invalid_request' });
    await reconciler.applyAll();
    await settled();
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await reconciler.state('prj_1')).toMatchObject({ state: 'unavailable' });
  });

  it('starts a runtime while the stop of another hangs', async () => {
    const { connections, models, runtimes, reconciler, settled } = await setUp();
    jest.spyOn(models, 'find').mockResolvedValue((await models.find('prj_1', 'mdl_1')) as Model);
    await connections.setDesired('prj_1', 'started');
    await reconciler.applyAll();
    await settled();
    const { opened, open } = gate();
    jest.spyOn(runtimes, 'stop').mockImplementation(() => opened);
    await connections.remove('prj_1');
    await connections.save(aConnection({ projectId: 'prj_2', modelId: 'mdl_1', desired: 'started' }));
    await reconciler.applyAll();
    await until('the other one is started', () => runtimes.status('prj_2/mdl_1').state !== 'stopped');
    open();
    await settled();
  });

  it('starts a model again if it is desired again before its worker has ended', async () => {
    const { connections, runtimes, reconciler, settled } = await setUp();
    await connections.setDesired('prj_1', 'started');
    await reconciler.applyAll();
    await settled();
    const { opened, open } = gate();
    const stop = jest.spyOn(runtimes, 'stop').mockImplementationOnce(() => opened);
    const started = jest.spyOn(runtimes, 'start');
    for (const desired of ['stopped', 'started'] as const) {
      await connections.setDesired('prj_1', desired);
      await reconciler.applyAll();
      await until('the stop has begun', () => stop.mock.calls.length > 0);
    }
    expect(started).not.toHaveBeenCalled();
    expect(await reconciler.isLoading()).toBe(false);
    open();
    await settled();
    expect(started).toHaveBeenCalledTimes(1);
  });

  it('runs all targets, and stops only those that are no target any more', async () => {
    const { connections, runtimes, reconciler, settled } = await setUp();
    const save = async (fallbacks: readonly string[]) => {
      await connections.save(aConnection({ projectId: 'prj_1', modelId: 'mdl_1', fallbacks, desired: 'started' }));
      await reconciler.applyAll();
      await settled();
      return ['prj_1/mdl_1', 'prj_1/mdl_2'].map((id) => runtimes.status(id).state !== 'stopped');
    };
    const started = jest.spyOn(runtimes, 'start');
    expect(await save(['mdl_2'])).toEqual([true, true]);
    expect(await reconciler.state('prj_1')).toMatchObject({
      state: 'ready',
      modelId: 'mdl_1',
      fallbacks: ['mdl_2'],
      targets: [
        { modelId: 'mdl_1', share: 1, state: 'ready', breaker: 'closed' },
        { modelId: 'mdl_2', share: 0, state: 'ready', breaker: 'closed' },
      ],
    });
    const context = (id: string) => (id.endsWith('mdl_1') ? 512 : 256);
    jest.spyOn(runtimes, 'status').mockImplementation((id) => ({ state: 'ready', reason: null, context: context(id) }));
    expect(reconciler.context('prj_1')).toBe(256);
    expect(reconciler.context('prj_2')).toBeNull();
    jest.mocked(runtimes.status).mockRestore();
    expect(await save([])).toEqual([true, false]);
    const first = started.mock.results.length;
    await reconciler.applyAll();
    await settled();
    expect(started.mock.results.length).toBe(first);
  });

  it('runs the other targets if one is refused, and is ready with them', async () => {
    const { connections, models, runtimes, reconciler, settled } = await setUp();
    const find = models.find.bind(models);
    jest.spyOn(models, 'find').mockImplementation(async (project, id) => (id === 'mdl_1' ? null : find(project, id)));
    const targets = { modelId: 'mdl_1', fallbacks: ['mdl_2'], desired: 'started' } as const;
    await connections.save(aConnection({ projectId: 'prj_1', ...targets }));
    await reconciler.applyAll();
    await settled();
    await until('the fallback is ready', () => runtimes.status('prj_1/mdl_2').state === 'ready');
    const { state, targets: seen } = await reconciler.state('prj_1');
    expect(state).toBe('ready');
    expect(seen.map((one) => one.state)).toEqual(['unavailable', 'ready']);
    expect(seen[0]?.reason).toBe('There is no such model.');
  });
});
