import { setTimeout as pause } from 'node:timers/promises';
import type { ModelServer, ServerState } from '../../../src/application/deployments/ports.js';
import type { ServedModel } from '../../../src/domain/deployments/deployment.js';
import { bodyOf, textOf } from '../../support/model-server/local-model-server-rig.js';
import { within } from '../../support/until.js';

/** Predictions do what `do` of their body says: `echo`, `refuse`, `hang`, `crash`, `page` (which is no answer). */
export interface ModelServerUnderTest {
  readonly servers: ModelServer;
  /** It writes a line with its name when it starts. */
  readonly model: ServedModel;
  /** Its file does not load; the loader says "Protobuf parsing failed". */
  readonly broken: ServedModel;
  /** Its process never proves its health. */
  readonly silent: ServedModel;
  readonly missing: ServedModel;
  readonly faults: ProcessFaults | null;
  /** How many processes there are. */
  processes(): number;
}

/** Present if the adapter runs processes, which can die. */
export interface ProcessFaults {
  /** Puts garbage into the file of `model`. */
  spoil(): void;
  /** Gives the file of `model` its content back. */
  mend(): void;
  /** Ends the process as a fault would. */
  crash(id: string): void;
  /** Keeps the process, but it does nothing any more. */
  freeze(id: string): void;
}

export interface ModelServerLimits {
  readonly startTimeoutMs: number;
  readonly inferenceTimeoutMs: number;
  readonly probeTimeoutMs: number;
}

/** Leaves out the tests of faults for an adapter without processes. */
export function modelServerContract(
  adapter: string,
  hasProcesses: boolean,
  open: (limits: ModelServerLimits) => ModelServerUnderTest,
) {
  describe(`ModelServer run by ${adapter}`, () => {
    let rig: ModelServerUnderTest;
    let servers: ModelServer;
    const use = (limits: Partial<ModelServerLimits> = {}) => {
      rig = open({ startTimeoutMs: 20_000, inferenceTimeoutMs: 20_000, probeTimeoutMs: 20_000, ...limits });
      ({ servers } = rig);
    };
    const faults = () => rig.faults as ProcessFaults;
    const itWithProcesses = (name: string, test: () => Promise<void>) => hasProcesses && it(name, test);
    beforeEach(() => use());
    afterEach(() => rig.servers.close());

    const start = (model = rig.model, id = 'a', signal = new AbortController().signal) =>
      servers.start(id, model, signal);
    const until = async (status: ServerState['status'], id = 'a'): Promise<ServerState> => {
      for (;;) {
        const state = await servers.probe(id);
        if (state.status === status) return state;
        await pause(1);
      }
    };
    const ask = (what: string, { id = 'a', signal = new AbortController().signal } = {}) => {
      const answer = servers.predict(id, { body: bodyOf({ do: what }), requestId: 'req_1' }, signal);
      answer.catch(() => undefined);
      return answer;
    };
    const code = (name: string) => expect.objectContaining({ code: name });
    const stopped = { status: 'stopped', port: null, reason: null, restarts: 0 };

    describe('start', () => {
      it('resolves to the port of a process that runs', async () => {
        const port = await start();
        expect(await servers.probe('a')).toEqual({ status: 'running', port, reason: null, restarts: 0 });
      });

      it('refuses a file that does not load, with the loader’s reason, and leaves nothing behind', async () => {
        await expect(start(rig.broken)).rejects.toEqual(code('model_file_invalid'));
        await expect(start(rig.broken)).rejects.toThrow('Protobuf parsing failed');
        expect(await servers.probe('a')).toEqual(stopped);
        expect(rig.processes()).toBe(0);
      });

      it('gives up where the proof of health does not come in time, and leaves nothing behind', async () => {
        use({ startTimeoutMs: 300 });
        await expect(start(rig.silent)).rejects.toEqual(code('runtime_unavailable'));
        expect(await servers.probe('a')).toEqual(stopped);
        expect(rig.processes()).toBe(0);
      });

      it('ends with its signal, and leaves nothing behind', async () => {
        const leaving = new AbortController();
        const starting = start(rig.silent, 'a', leaving.signal);
        starting.catch(() => undefined);
        while ((await servers.probe('a')).status !== 'starting') await pause(1);
        leaving.abort('gone');
        await expect(starting).rejects.toBe('gone');
        await expect(start(rig.model, 'b', AbortSignal.abort('gone'))).rejects.toBe('gone');
        expect(await servers.probe('a')).toEqual(stopped);
        expect(rig.processes()).toBe(0);
      });

      itWithProcesses('brings back what dies', async () => {
        await start();
        faults().crash('a');
        const { restarts } = await until('running');
        expect(restarts).toBe(1);
        expect((await ask('echo')).status).toBe(200);
        expect(rig.processes()).toBe(1);
      });
    });

    describe('what dies again and again', () => {
      itWithProcesses('is crash_looping while it waits, with the reason, and runs once it can', async () => {
        const port = await start();
        faults().spoil();
        faults().crash('a');
        const looping = await until('crash_looping');
        expect(looping.reason).toMatch('Protobuf parsing failed');
        expect(looping.port).toBe(port);
        faults().mend();
        const { reason, restarts } = await until('running');
        expect(reason).toBeNull();
        expect(restarts).toBeGreaterThanOrEqual(2);
      });

      itWithProcesses('is crash_looping too where it runs for a moment each time', async () => {
        await start();
        for (const _ of [1, 2]) {
          faults().crash('a');
          while ((await servers.probe('a')).status === 'running') await pause(1);
          await until('running');
        }
        faults().crash('a');
        expect((await until('crash_looping')).reason).toEqual(expect.any(String));
      });
    });

    describe('resume', () => {
      it('returns at once, and is starting until it runs', async () => {
        for (const id of ['a', 'b', 'c', 'd']) servers.resume(id, rig.model);
        for (const id of ['a', 'b', 'c', 'd']) expect((await servers.probe(id)).status).toBe('starting');
        for (const id of ['a', 'b', 'c', 'd']) await until('running', id);
        expect(rig.processes()).toBe(4);
      });

      itWithProcesses('tries again what fails, and holds up nothing else', async () => {
        faults().spoil();
        servers.resume('a', rig.model);
        servers.resume('b', rig.missing);
        expect((await until('crash_looping')).reason).toMatch('Protobuf');
        await until('crash_looping', 'b');
        faults().mend();
        servers.resume('c', rig.model);
        await until('running', 'c');
        await until('running');
      });
    });

    describe('probe', () => {
      it('finds stopped what was never started', async () => {
        expect(await servers.probe('a')).toEqual(stopped);
      });

      itWithProcesses('finds unhealthy what is there and gives no proof, within two seconds', async () => {
        use({ probeTimeoutMs: 1_000 });
        const port = await start();
        faults().freeze('a');
        let state: ServerState | undefined;
        const probe = async () => {
          state = await servers.probe('a');
        };
        expect(await within(2_000, probe)).toBe(true);
        expect(state).toEqual({ status: 'unhealthy', port, reason: expect.any(String), restarts: 0 });
      });
    });

    describe('stop', () => {
      it('resolves once the process is gone', async () => {
        await start();
        await servers.stop('a');
        expect(rig.processes()).toBe(0);
        expect(await servers.probe('a')).toEqual(stopped);
        await servers.stop('a');
      });

      itWithProcesses('ends by force what does not end by itself', async () => {
        await start();
        faults().freeze('a');
        await servers.stop('a');
        expect(rig.processes()).toBe(0);
      });

      it('ends what waits for its next start, for good', async () => {
        servers.resume('a', rig.broken);
        await until('crash_looping');
        await servers.stop('a');
        await pause(150);
        expect(await servers.probe('a')).toEqual(stopped);
        expect(rig.processes()).toBe(0);
      });
    });

    describe('predict', () => {
      it('passes bodies and answers on', async () => {
        await start();
        const { status, headers, body, complete } = await ask('echo');
        expect(status).toBe(200);
        expect(complete).toBe(true);
        expect(headers['content-type']).toMatch('application/json');
        expect(JSON.parse(await textOf(body))).toMatchObject({ outputs: { y: { data: [13] } } });
      });

      it('passes refusals on, with the request’s id', async () => {
        await start();
        const { status, body } = await ask('refuse');
        expect(status).toBe(422);
        expect(JSON.parse(await textOf(body))).toMatchObject({ code: 'invalid_request', request_id: 'req_1' });
      });

      it('refuses by the state of the process', async () => {
        await expect(ask('echo')).rejects.toEqual(code('runtime_stopped'));
        servers.resume('a', rig.broken);
        await expect(ask('echo')).rejects.toEqual(code('runtime_loading'));
        await until('crash_looping');
        await expect(ask('echo')).rejects.toEqual(code('runtime_unavailable'));
      });

      itWithProcesses('refuses where the process dies meanwhile, and where it says nonsense', async () => {
        await start();
        await expect(ask('page')).rejects.toEqual(code('runtime_invalid_response'));
        await expect(ask('crash')).rejects.toEqual(code('runtime_invalid_response'));
        await until('running');
        expect((await ask('echo')).status).toBe(200);
      });

      it('gives up after its time', async () => {
        use({ inferenceTimeoutMs: 200 });
        await start();
        await expect(ask('hang')).rejects.toEqual(code('inference_timeout'));
        expect((await servers.probe('a')).status).toBe('running');
      });

      it('ends with its signal', async () => {
        await start();
        const leaving = new AbortController();
        const call = ask('hang', { signal: leaving.signal });
        leaving.abort('gone');
        await expect(call).rejects.toBe('gone');
        await expect(ask('echo', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
      });

      it('throws what the body throws', async () => {
        await start();
        const failure = new Error('cut off');
        const chunks = (async function* () {
          yield Buffer.from('{');
          throw failure;
        })();
        const call = { body: { length: null, chunks }, requestId: 'req_1' };
        await expect(servers.predict('a', call, new AbortController().signal)).rejects.toBe(failure);
      });
    });

    describe('output', () => {
      itWithProcesses('is what its processes wrote, the latest lines of it', async () => {
        expect(servers.output('a', 10)).toEqual([]);
        await start();
        while (servers.output('a', 10).length === 0) await pause(1);
        faults().crash('a');
        while (servers.output('a', 10).length < 2) await pause(1);
        expect(servers.output('a', 10)).toEqual([1, 2].map(() => expect.stringContaining(rig.model.name)));
        expect(servers.output('a', 1)).toHaveLength(1);
      });
    });

    describe('close', () => {
      it('stops every process, fails what is being started, and lets nothing begin', async () => {
        await start();
        const starting = start(rig.silent, 'b');
        starting.catch(() => undefined);
        servers.resume('c', rig.broken);
        await until('crash_looping', 'c');
        await servers.close();
        await expect(starting).rejects.toEqual(code('runtime_unavailable'));
        await expect(start()).rejects.toEqual(code('runtime_unavailable'));
        servers.resume('d', rig.model);
        for (const id of ['a', 'b', 'c', 'd']) expect(await servers.probe(id)).toEqual(stopped);
        expect(rig.processes()).toBe(0);
      });
    });
  });
}
