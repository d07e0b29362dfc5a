import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';

export interface LivingProcessesUnderTest {
  /** One more process of the service. */
  process(): Promise<InstanceRegistry>;
  /** Breaks a process's line to the database, as the end of the process would. */
  cut(process: InstanceRegistry): Promise<void>;
}

export function livingProcessesContract(adapter: string, rig: LivingProcessesUnderTest) {
  describe(`InstanceRegistry known by ${adapter}`, () => {
    it('gives each process a number of its own, which stays', async () => {
      const processes = await Promise.all([1, 2, 3].map(() => rig.process()));
      const numbers = await Promise.all(processes.map((one) => one.own()));
      expect(new Set(numbers).size).toBe(3);
      expect(await Promise.all(processes.map((one) => one.own()))).toEqual(numbers);
    });

    it('knows who lives and who does not', async () => {
      const [one, two] = [await rig.process(), await rig.process()];
      const [first, second] = [await one.own(), await two.own()];
      const never = 2_000_000_000;
      expect(await one.missing([first, second, never])).toEqual([never]);
      expect(await one.missing([])).toEqual([]);
      await two.leave();
      await two.leave();
      expect(await one.missing([first, second])).toEqual([second]);
    });

    it('tells what a process is called, and nothing of one that told nothing', async () => {
      const [one, two] = [await rig.process(), await rig.process()];
      const identity = { name: 'host-1:8080', url: 'http://10.0.0.1:8080' };
      expect(await two.name(await one.own())).toBeNull();
      await one.introduce(identity);
      expect(await two.name(await one.own())).toBe(identity.name);
      expect(await one.name(await one.own())).toBe(identity.name);
      expect(await one.name(await two.own())).toBeNull();
      await two.introduce({ ...identity, name: 'host-2:8080' });
      await one.leave();
      expect(await two.name(await one.own())).toBe(identity.name);
    });

    it('tells where a process is reached, as long as it is', async () => {
      const [one, two] = [await rig.process(), await rig.process()];
      const identity = { name: 'host-1:8080', url: 'http://10.0.0.1:8080' };
      const number = await one.own();
      expect(await two.url(number)).toBeNull();
      await one.introduce(identity);
      expect(await two.url(number)).toBe(identity.url);
      await rig.cut(one);
      expect(await two.url(number)).toBeNull();
      await one.renew();
      expect(await two.url(number)).toBe(identity.url);
      await one.withdraw();
      expect([await one.url(number), await two.url(number)]).toEqual([null, null]);
      expect(await two.missing([number])).toEqual([]);
      expect(await two.name(number)).toBe(identity.name);
    });

    it('misses who is cut off, until it is back', async () => {
      const [one, two] = [await rig.process(), await rig.process()];
      const number = await two.own();
      await rig.cut(two);
      expect(await one.missing([number])).toEqual([number]);
      await two.renew();
      expect(await one.missing([number])).toEqual([]);
      expect(await two.own()).toBe(number);
      await two.renew();
      expect(await one.missing([number])).toEqual([]);
    });
  });
}
