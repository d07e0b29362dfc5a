import { FailoverRig } from '../support/failover-rig.js';
import { masterKey } from '../support/monitoring.js';
import { answering, chunk, sendEvents, speaking } from '../support/scripted-engine.js';
import { statusAndCode } from './support/refusals.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the breaker of a model', () => {
  let rig: FailoverRig;
  beforeAll(async () => {
    rig = await FailoverRig.start({ SERVICE_INFERENCE_TIMEOUT_S: '2', SERVICE_MASTER_KEY: masterKey });
  });
  beforeEach(() => rig.reset());
  afterAll(() => rig.stop());

  const alone = () => rig.project(([model_id]) => ({ model_id }));
  const breakersOf = async (project: Parameters<FailoverRig['targets']>[0]) =>
    (await rig.targets(project)).map(({ breaker }: { breaker: string }) => breaker);

  it('opens after five failures, and then lets only probes through', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    for (let i = 0; i < 8; i++) expect((await rig.chat(project)).status).toBe(200); // within a second
    expect(rig.engines.map(({ asked }) => asked.length)).toEqual([5, 8]);
    expect(await breakersOf(project)).toEqual(['open', 'closed']);
    expect(await rig.job(project)).toMatchObject({ attempts: [{ model_id: project.models[1], outcome: 'answered' }] });
    await pause(1_050);
    expect(await breakersOf(project)).toEqual(['half_open', 'closed']);
    await Promise.all(Array.from({ length: 10 }, () => rig.chat(project)));
    expect(rig.engines[0].asked).toHaveLength(6);
    await pause(1_050); // the second pause takes two seconds
    await rig.chat(project);
    expect(rig.engines[0].asked).toHaveLength(6);
  });

  it('closes when a probe is answered', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    for (let i = 0; i < 5; i++) await rig.chat(project);
    rig.engines[0].script = speaking('first');
    await pause(1_050);
    const { headers } = await rig.chat(project);
    expect(headers.get('x-model-id')).toBe(project.models[0]);
    expect(await breakersOf(project)).toEqual(['closed', 'closed']);
    for (let i = 0; i < 5; i++) await rig.chat(project);
    expect(rig.engines[0].asked).toHaveLength(11);
  });

  it('does not stay open if the caller of the probe leaves', async () => {
    const project = await alone();
    rig.engines[0].script = answering(500, {});
    for (let i = 0; i < 5; i++) await rig.chat(project);
    rig.engines[0].script = () => undefined;
    await pause(1_050);
    const leaving = new AbortController();
    const json = { model: project.id, messages: [{ role: 'user', content: 'Hi' }] };
    const path = `/v1/projects/${project.id}/chat/completions`;
    const probe = rig.app.call('POST', path, { token: rig.admin.apiKey, json, signal: leaving.signal });
    await rig.engines[0].wasAsked(6);
    expect(statusAndCode(await rig.chat(project))).toBe('503 runtime_unavailable');
    leaving.abort();
    await probe.catch(() => undefined);
    rig.engines[0].script = speaking('first');
    await pause(100);
    expect((await rig.chat(project)).status).toBe(200);
    expect(await breakersOf(project)).toEqual(['closed']);
  });

  it('refuses calls at once while all are open, and says when to try again', async () => {
    const project = await rig.project();
    for (const engine of rig.engines) engine.script = answering(500, {});
    for (let i = 0; i < 5; i++) expect((await rig.chat(project)).status).toBe(502);
    const asked = rig.engines.map((engine) => engine.asked.length);
    const took: number[] = [];
    for (let i = 0; i < 5; i++) {
      const began = performance.now();
      const { status, headers, body } = await (i % 2 === 0 ? rig.chat(project) : rig.stream(project));
      took.push(performance.now() - began);
      expect([status, (body.code ?? body.error.code) as string]).toEqual([503, 'runtime_unavailable']);
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(Math.min(...took)).toBeLessThan(50);
    expect(rig.engines.map((engine) => engine.asked.length)).toEqual(asked);
  });

  it('works for a single model, and waits as long as the engine advises', async () => {
    const project = await alone();
    rig.engines[0].script = answering(429, {}, { 'Retry-After': '30' });
    for (let i = 0; i < 5; i++) expect(statusAndCode(await rig.chat(project))).toBe('429 model_busy');
    const { status, headers } = await rig.chat(project);
    expect([status, Number(headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(28);
    expect(await rig.targets(project)).toMatchObject([{ breaker: 'open', retry_after: expect.any(Number) }]);
    expect(rig.engines[0].asked).toHaveLength(5);
  });

  it('counts a break after the first content, but no wrong requests', async () => {
    const project = await alone();
    rig.engines[0].script = answering(400, { error: { message: 'no such voice' } });
    for (let i = 0; i < 8; i++) expect((await (i % 2 ? rig.stream(project) : rig.chat(project))).status).not.toBe(200);
    expect(await breakersOf(project)).toEqual(['closed']);
    rig.engines[0].script = (_, response) => {
      sendEvents(response, chunk('m', { role: 'assistant', content: 'Par' }));
      setTimeout(() => response.destroy(), 20);
    };
    for (let i = 0; i < 5; i++) expect((await rig.stream(project)).status).toBe(200);
    expect(await breakersOf(project)).toEqual(['open']);
  });

  it('is closed again after a stop and a start', async () => {
    const project = await alone();
    rig.engines[0].script = answering(500, {});
    for (let i = 0; i < 5; i++) await rig.chat(project);
    expect(await breakersOf(project)).toEqual(['open']);
    for (const act of ['stop', 'start'])
      await rig.app.post(`/v1/projects/${project.id}/runtime/${act}`, rig.admin.token);
    expect(await breakersOf(project)).toEqual(['closed']);
  });

  it('is a metric, as are the attempts', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    for (let i = 0; i < 5; i++) await rig.chat(project);
    const [first, second] = project.models;
    const labels = (model: string) => `project="${project.id}",model="${model}"`;
    expect(await rig.metric(project, 'tenon_chat_breaker_open', masterKey)).toEqual(
      expect.arrayContaining([
        `tenon_chat_breaker_open{${labels(first)}} 1`,
        `tenon_chat_breaker_open{${labels(second)}} 0`,
      ]),
    );
    expect(await rig.metric(project, 'tenon_chat_attempts_total', masterKey)).toEqual(
      expect.arrayContaining([
        `tenon_chat_attempts_total{${labels(first)},outcome="runtime_invalid_response"} 5`,
        `tenon_chat_attempts_total{${labels(second)},outcome="answered"} 5`,
      ]),
    );
  });
});
