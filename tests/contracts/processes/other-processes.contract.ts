import type { ModelStates, OtherProcesses } from '../../../src/application/processes/ports.js';
import { ModelBusy } from '../../../src/domain/chat/errors.js';
import { eventually } from '../../support/eventually.js';

/** A process that can be asked, and what it would say. */
export interface AnsweringProcess {
  readonly number: number;
  /** The ids that it was asked to settle. */
  readonly settled: string[];
  /** Answers that were begun and ended by their signal. */
  readonly chats: { begun: number; ended: number };
}

export interface OtherProcessesUnderTest {
  readonly others: OtherProcesses;
  /** One more process, which says this of whatever it is asked about. */
  process(says: (id: string) => Partial<ModelStates>): Promise<AnsweringProcess>;
  /** One more process that cannot be asked, whatever it is. */
  unreachable(): Promise<number>;
}

const running = { status: 'running', port: 40_001, reason: null, restarts: 2 } as const;
const ready = { state: 'ready', reason: null } as const;

export function otherProcessesContract(adapter: string, open: () => Promise<OtherProcessesUnderTest>) {
  describe(`OtherProcesses asked by ${adapter}`, () => {
    let rig: OtherProcessesUnderTest;
    beforeAll(async () => {
      rig = await open();
    });
    const asked = () =>
      rig.process((id) => (id.startsWith('dep_') ? { deployments: { [id]: running } } : { runtimes: { [id]: ready } }));

    it('tells what a process says of what it was asked about', async () => {
      const { number } = await asked();
      expect(await rig.others.states(number, ['dep_1', 'prj_1', 'dep_2'])).toEqual({
        deployments: { dep_1: running, dep_2: running },
        runtimes: { prj_1: ready },
      });
      expect(await rig.others.states(number, [])).toEqual({ deployments: {}, runtimes: {} });
    });

    it('asks about any number of them', async () => {
      const { number } = await asked();
      const ids = Array.from({ length: 555 }, (_, n) => `prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f${1_000 + n}`);
      expect(Object.keys((await rig.others.states(number, ids))?.runtimes ?? {})).toEqual(ids);
    });

    it('has a process settle one of them', async () => {
      const process = await asked();
      expect(await rig.others.settle(process.number, 'dep_1')).toBe(true);
      expect(await rig.others.settle(process.number, 'prj_1')).toBe(true);
      expect(process.settled).toEqual(['dep_1', 'prj_1']);
    });

    const call = (text: string) => ({
      projectId: 'prj_1',
      request: { messages: [{ role: 'user' as const, content: text }], maxTokens: 7, temperature: 0 },
      caller: 'usr_1',
    });
    const never = new AbortController().signal;

    it("has a process's runtime answer, and tells its refusals", async () => {
      const { number } = await asked();
      const completion = { text: JSON.stringify(call('Hi')), finishReason: 'stop', usage: null };
      expect(await rig.others.complete(number, call('Hi'), never)).toEqual({ completion, latency: 0.25 });
      await expect(rig.others.complete(number, call('busy'), never)).rejects.toMatchObject({
        kind: 'busy',
        code: 'model_busy',
        message: new ModelBusy(3).message,
        advice: { retryAfterSeconds: 3 },
      });
      expect(await rig.others.complete(number, call('broken'), never)).toBeNull();
    });

    it('ends an answer that nobody waits for any more', async () => {
      const process = await asked();
      const abort = new AbortController();
      const reason = new Error('enough');
      const answer = rig.others.complete(process.number, call('forever'), abort.signal);
      answer.catch(() => undefined);
      await eventually(() => process.chats.begun === 1);
      abort.abort(reason);
      await expect(answer).rejects.toBe(reason);
      await eventually(() => process.chats.ended === 1);
    });

    it('says where a process cannot be asked, or is unknown', async () => {
      for (const number of [await rig.unreachable(), 2_000_000_000]) {
        expect(await rig.others.states(number, ['dep_1'])).toBeNull();
        expect(await rig.others.settle(number, 'dep_1')).toBe(false);
        expect(await rig.others.complete(number, call('Hi'), never)).toBeNull();
      }
    });

    it('says so too where a process fails at what it was asked', async () => {
      const { number } = await rig.process(() => {
        throw new Error('planted');
      });
      expect(await rig.others.states(number, ['dep_1'])).toBeNull();
      expect(await rig.others.settle(number, 'dep_1')).toBe(false);
    });
  });
}
