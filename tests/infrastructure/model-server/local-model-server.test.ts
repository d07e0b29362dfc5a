import { createServer, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { portOf } from '../../../src/domain/deployments/deployment.js';
import { ChildLimits } from '../../../src/infrastructure/child-process/child-limits.js';
import { bodyOf, LocalModelServerRig, prediction } from '../../support/model-server/local-model-server-rig.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

let rig: LocalModelServerRig;
const use = (settings: ConstructorParameters<typeof LocalModelServerRig>[1] = {}) => {
  rig = new LocalModelServerRig(temporary.path, settings);
  return rig;
};
afterEach(() => rig.servers.close());

const signal = new AbortController().signal;
const predict = (id: string, body: ReturnType<typeof bodyOf>) => rig.servers.request(id, prediction(body), signal);

describe('a model server that dies', () => {
  it('is started again only after its file was found and checked again', async () => {
    use();
    await rig.start(rig.model('fine', 'gone'));
    rig.remove('gone');
    rig.kill();
    expect((await rig.until('crash_looping')).reason).toMatch('no such file');
    rig.write('fine', 'gone');
    await rig.until('running');
  });

  it('has its last output in the reason, without the paths of the machine', async () => {
    use({ startTimeoutMs: 5_000 });
    const failureOf = (word: string) => rig.start(rig.model(word), word).catch((error) => error);
    const crash = await failureOf('crash');
    expect(crash.code).toBe('model_file_invalid');
    expect(crash.message).toMatch(/its process ended \(exit code 3\): no luck with crash\.onnx$/);
    expect((await failureOf('garbage')).message).toMatch(/Protobuf parsing failed in garbage\.onnx\.$/);
    const complaint = /It does not load\. Its last output: no operator for complaining\.onnx$/;
    expect((await failureOf('complaining')).message).toMatch(complaint);
    const stuck = await failureOf('stuck');
    expect(stuck.code).toBe('runtime_unavailable');
    expect(stuck.message).toMatch(/within 5 s\. Its last output: waiting for stuck\.onnx$/);
  });
});

describe('the health proof', () => {
  it('cannot be given by another process that answers on the port', async () => {
    use({ startTimeoutMs: 400, probeTimeoutMs: 100 });
    await expect(rig.start(rig.model('liar'))).rejects.toMatchObject({ code: 'runtime_unavailable' });
    expect(rig.processes()).toEqual([]);
  });

  it('cannot be given with an old answer on the port of a dead process', async () => {
    use({ restartDelayMs: { first: 10_000, max: 10_000 } });
    const url = await rig.start(rig.model('fine'));
    const nonce = 'ab'.repeat(32);
    const answer = await fetch(`${url}/health`, { headers: { 'x-tenon-challenge': nonce } });
    const proof = String(answer.headers.get('x-tenon-proof'));
    expect(proof).toMatch(/^[0-9a-f]{64}$/);
    rig.kill();
    await rig.log.saw('deployment process ended');
    const stranger: Server = createServer((_, response) => response.setHeader('x-tenon-proof', proof).end('{}'));
    await new Promise<void>((resolve) => stranger.listen(portOf(url), '127.0.0.1', resolve));
    expect(await rig.servers.probe('a')).toMatchObject({
      status: 'starting',
      url,
      reason: expect.stringContaining('SIGKILL'),
    });
    await expect(predict('a', bodyOf({}))).rejects.toMatchObject({
      code: 'runtime_loading',
    });
    stranger.close();
  });
});

describe('a model server', () => {
  it('has its output in the log with its deployment, up to a number of lines in a second', async () => {
    use();
    await rig.start(rig.model('wordy'));
    const lines = () => rig.log.of('deployment output').map(({ fields }) => fields);
    const { fields } = await rig.log.saw('deployment output left out');
    expect(fields).toEqual({ deployment: 'a', lines: expect.any(Number) });
    expect(lines().length).toBeLessThanOrEqual(450);
    expect(lines()).toContainEqual({ deployment: 'a', stream: 'stdout', line: 'line 7' });
    for (const { line } of lines()) expect(String(line).length).toBeLessThanOrEqual(4_096);
    expect(lines().length + Number(fields.lines)).toBeGreaterThanOrEqual(1_000);
    expect(await rig.servers.output('a', 2)).toEqual(['line 999', 'serving wordy from wordy.onnx']);
  });

  it('that reports a hanging model is ended with that reason, and waits for its restart', async () => {
    use({ inferenceTimeoutMs: 5_000, restartDelayMs: { first: 60_000, max: 60_000 } });
    await rig.start(rig.model('fine'));
    const stuck = predict('a', bodyOf({ do: 'stick' }));
    await expect(stuck).rejects.toMatchObject({ code: 'runtime_invalid_response' });
    const state = await rig.until('starting');
    expect(state.reason).toMatch(/^a prediction took longer than 5 s/);
  });

  it('has the whole time limit for an answer, even if the body came slowly', async () => {
    use({ inferenceTimeoutMs: 300 });
    await rig.start(rig.model('fine'));
    const { length, chunks } = bodyOf({});
    const slowly = async function* () {
      await pause(600);
      yield* chunks;
    };
    const answer = await predict('a', { length, chunks: slowly() });
    expect(answer.status).toBe(200);
  });

  it('that is frozen is ended after a prediction has timed out', async () => {
    use({ inferenceTimeoutMs: 300, probeTimeoutMs: 300, restartDelayMs: { first: 60_000, max: 60_000 } });
    await rig.start(rig.model('fine'));
    for (const pid of rig.processes()) process.kill(pid, 'SIGSTOP');
    const frozen = predict('a', bodyOf({}));
    await expect(frozen).rejects.toMatchObject({ code: 'inference_timeout' });
    const state = await rig.until('starting');
    expect(state.reason).toMatch(/^it did not answer any more/);
  });

  it('starts while nine others start; ten that hang are found and ended at the same time', async () => {
    use({ probeTimeoutMs: 1_000, stopGraceMs: 1_000 });
    const ids = Array.from({ length: 10 }, (_, n) => `${n}`);
    const ports = await Promise.all(ids.map((id) => rig.start(rig.model('fine'), id)));
    expect(new Set(ports).size).toBe(10);
    for (const pid of rig.processes()) process.kill(pid, 'SIGSTOP');
    const begun = performance.now();
    const states = await Promise.all(ids.map((id) => rig.servers.probe(id)));
    expect(states.map(({ status }) => status)).toEqual(Array(10).fill('unhealthy'));
    await Promise.all(ids.map((id) => rig.servers.stop(id)));
    // One after the other, ten probes and ten ends would take twenty seconds.
    expect(performance.now() - begun).toBeLessThan(9_000);
    expect(rig.processes()).toEqual([]);
  });

  it('is refused, or waits with a reason, while the instance runs its maximum of child processes', async () => {
    use({ children: new ChildLimits(1) });
    await rig.start(rig.model('fine'));
    const full = expect.stringContaining('SERVICE_MAX_CHILDREN');
    const refused = { code: 'runtime_unavailable', message: full };
    await expect(rig.start(rig.model('fine'), 'refused')).rejects.toMatchObject(refused);
    rig.servers.resume('b', rig.model('fine'));
    expect(await rig.until('stopped', 'b')).toMatchObject({ reason: full });
    const prediction = predict('b', bodyOf({}));
    await expect(prediction).rejects.toMatchObject(refused);
    expect(rig.servers.ids()).toEqual(['a', 'b']);
    await rig.servers.stop('a');
    expect(await rig.until('running', 'b')).toMatchObject({ reason: null });
  });
});
