import { FailoverRig } from '../support/failover-rig.js';
import { createProject, draftModel, registeredModel } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';

const UNKNOWN = 'mdl_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

describe('the targets of a runtime', () => {
  let rig: FailoverRig;
  beforeAll(async () => {
    rig = await FailoverRig.start();
  });
  beforeEach(() => rig.reset());
  afterAll(() => rig.stop());

  it('are fallbacks or a split, and are read as they were connected', async () => {
    const project = await rig.project();
    const [first, second] = project.models;
    const target = { state: 'ready', reason: null, breaker: 'closed', retry_after: null };
    const runtime = `/v1/projects/${project.id}/runtime`;
    expect((await rig.app.get(runtime, rig.admin.token)).body).toMatchObject({
      ...{ state: 'ready', model_id: first, fallbacks: [second], split: null, reason: null },
      targets: [
        { ...target, model_id: first, share: 1 },
        { ...target, model_id: second, share: 0 },
      ],
    });
    const split = [
      { model_id: first, weight: 9 },
      { model_id: second, weight: 1 },
    ];
    const { status, body } = await rig.put(project, { model_id: first, split });
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'ready', model_id: first, fallbacks: [], split });
    expect(body.targets.map(({ share }: { share: number }) => share)).toEqual([0.9, 0.1]);
    const { entries } = (await rig.app.get(`/v1/audit?limit=1&object_id=${project.id}`, rig.admin.token)).body;
    expect(entries[0]).toMatchObject({
      action: 'runtime.connected',
      details: { model_id: first, split: `${first} 9, ${second} 1` },
    });
  });

  it('draw the first model by weight, and the others are its fallbacks', async () => {
    const weight = (model_id: string, number: number) => ({ model_id, weight: number });
    const project = await rig.project(([first, second]) => ({ split: [weight(first, 9), weight(second, 1)] }));
    const [first, second] = project.models;
    const answered = async (drawn: number) => {
      rig.draw(drawn);
      return (await rig.chat(project)).headers.get('x-model-id');
    };
    expect([await answered(0), await answered(0.89), await answered(0.91)]).toEqual([first, first, second]);
    rig.engines[1].script = (_, response) => response.destroy();
    expect(await answered(0.91)).toBe(first);
    expect((await rig.job(project)).attempts).toMatchObject([{ model_id: second }, { model_id: first }]);
  });

  it('keep a started runtime running if only the fallbacks change, and stop it for another model', async () => {
    const project = await rig.project(([model_id]) => ({ model_id }));
    const [first, second] = project.models;
    const connect = async (json: object) => (await rig.put(project, json)).body.state;
    expect(await connect({ model_id: first, fallbacks: [second] })).toBe('ready');
    expect(await connect({ model_id: first, fallbacks: [] })).toBe('ready');
    expect(await connect({ model_id: second, fallbacks: [first] })).toBe('stopped');
  });

  it('must be known and registered models, and each problem names its field', async () => {
    const { app, admin } = rig;
    const project = await rig.project(([model_id]) => ({ model_id }));
    const [first, second] = project.models;
    const other = await createProject(app, admin.token);
    const foreign = await registeredModel(app, admin.token, other);
    const draft = await draftModel(app, admin.token, project.id, { runtime: 'onnx', path: 'tiny-chat' });
    const weight = (model_id: string, number: unknown) => ({ model_id, weight: number });
    const refused = async (json: object) => {
      const answer = await rig.put(project, json);
      const { details } = answer.body;
      return [statusAndCode(answer), ...((details ?? []) as { path: string }[]).map(({ path }) => path)];
    };
    const invalid = '422 invalid_request';
    for (const [json, expected] of [
      [{}, [invalid, 'model_id']],
      [{ fallbacks: [second] }, [invalid, 'model_id']],
      [{ model_id: UNKNOWN }, ['404 not_found']],
      [{ model_id: first, fallbacks: [UNKNOWN] }, ['404 not_found', 'fallbacks.0']],
      [{ model_id: first, fallbacks: [foreign] }, ['404 not_found', 'fallbacks.0']],
      [{ model_id: first, fallbacks: [draft.id] }, [invalid, 'fallbacks.0']],
      [{ model_id: first, fallbacks: [first] }, [invalid, 'fallbacks.0']],
      [{ model_id: first, fallbacks: second }, [invalid, 'fallbacks']],
      [{ model_id: first, fallbacks: [7] }, [invalid, 'fallbacks.0']],
      [{ model_id: first, fallbacks: [second, UNKNOWN, foreign, draft.id] }, [invalid, 'fallbacks']],
      [{ model_id: first, fallbacks: [second], split: [weight(first, 1)] }, [invalid, 'fallbacks']],
      [{ model_id: first, split: [] }, [invalid, 'split']],
      [{ model_id: first, split: [weight(second, 1)] }, [invalid, 'split']],
      [{ split: [weight(first, 1), weight(first, 2)] }, [invalid, 'split.1.model_id']],
      [{ split: [weight(first, 0)] }, [invalid, 'split.0.weight']],
      [{ split: [weight(first, '1')] }, [invalid, 'split.0.weight']],
      [{ split: [weight(first, 1), weight(UNKNOWN, 1)] }, ['404 not_found', 'split.1.model_id']],
    ] as const)
      expect([json, await refused(json)]).toEqual([json, expected]);
    const { body } = await app.get(`/v1/projects/${project.id}/runtime`, admin.token);
    expect(body).toMatchObject({ state: 'ready', model_id: first, fallbacks: [], split: null });
  });
});
