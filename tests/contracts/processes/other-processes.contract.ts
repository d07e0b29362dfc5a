import type { ModelStates, OtherProcesses } from '../../../src/application/processes/ports/other-processes.js';

/** A process that can be asked, and what it would say. */
export interface AnsweringProcess {
  readonly number: number;
  /** The ids that it was asked to settle. */
  readonly settled: string[];
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

    it('says where a process cannot be asked, or is unknown', async () => {
      for (const number of [await rig.unreachable(), 2_000_000_000]) {
        expect(await rig.others.states(number, ['dep_1'])).toBeNull();
        expect(await rig.others.settle(number, 'dep_1')).toBe(false);
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
