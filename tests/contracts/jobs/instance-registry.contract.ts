import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';

export interface InstanceRegistryUnderTest {
  instance(): Promise<InstanceRegistry>;
  /** Breaks an instance's connection to the database, as the end of its process would. */
  cut(instance: InstanceRegistry): Promise<void>;
}

export function instanceRegistryContract(adapter: string, rig: InstanceRegistryUnderTest) {
  describe(`InstanceRegistry of ${adapter}`, () => {
    it('gives each instance its own number, which never changes', async () => {
      const instances = await Promise.all([1, 2, 3].map(() => rig.instance()));
      const numbers = await Promise.all(instances.map((one) => one.own()));
      expect(new Set(numbers).size).toBe(3);
      expect(await Promise.all(instances.map((one) => one.own()))).toEqual(numbers);
    });

    it('returns those of the given numbers that belong to no running instance', async () => {
      const [one, two] = [await rig.instance(), await rig.instance()];
      const [first, second] = [await one.own(), await two.own()];
      const never = 2_000_000_000;
      expect(await one.missing([first, second, never])).toEqual([never]);
      expect(await one.missing([])).toEqual([]);
      await two.leave();
      await two.leave();
      expect(await one.missing([first, second])).toEqual([second]);
    });

    it('counts an instance without a connection as missing until it registers again', async () => {
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
