import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';

export interface InstanceRegistryUnderTest {
  instance(): Promise<InstanceRegistry>;
  /** Breaks an instance's connection to the database, as the end of its process would. */
  cut(instance: InstanceRegistry): Promise<void>;
}

export function instanceRegistryContract(adapter: string, rig: InstanceRegistryUnderTest) {
  describe(`InstanceRegistry known by ${adapter}`, () => {
    it('gives each instance a number of its own, which stays', async () => {
      const instances = await Promise.all([1, 2, 3].map(() => rig.instance()));
      const numbers = await Promise.all(instances.map((one) => one.own()));
      expect(new Set(numbers).size).toBe(3);
      expect(await Promise.all(instances.map((one) => one.own()))).toEqual(numbers);
    });

    it('knows who lives and who does not', async () => {
      const [one, two] = [await rig.instance(), await rig.instance()];
      const [first, second] = [await one.own(), await two.own()];
      const never = 2_000_000_000;
      expect(await one.missing([first, second, never])).toEqual([never]);
      expect(await one.missing([])).toEqual([]);
      await two.leave();
      await two.leave();
      expect(await one.missing([first, second])).toEqual([second]);
    });

    it('misses who is cut off, until it is back', async () => {
      const [one, two] = [await rig.instance(), await rig.instance()];
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
