import { atOnce, gate } from '../../support/barrier.js';
import { aRule } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function locksContract(adapter: string, store: StoreUnderTest) {
  describe(`UnitOfWork.locked of ${adapter}`, () => {
    let here: Repositories;
    let elsewhere: Repositories;

    beforeEach(async () => {
      here = await store.open();
      elsewhere = await store.elsewhere();
    });

    it('returns the result of the work and commits its writes; commits nothing of work that throws', async () => {
      const rule = aRule();
      const failing = here.unitOfWork.locked('line', async () => {
        await here.alertRules.add(aRule());
        throw new Error('on second thoughts');
      });
      const next = here.unitOfWork.locked('line', async () => {
        const found = await here.alertRules.all();
        await here.alertRules.add(rule);
        return found;
      });
      await expect(failing).rejects.toThrow('on second thoughts');
      expect(await next).toEqual([]);
      expect(await elsewhere.alertRules.all()).toEqual([rule]);
    });

    it('shows each holder the writes of all earlier holders, on every instance, and retries no work', async () => {
      const rule = aRule({ failuresInARow: 0 });
      await here.alertRules.add(rule);
      let begun = 0;
      await atOnce(24, (party) => {
        const { unitOfWork, alertRules } = party % 2 ? here : elsewhere;
        return unitOfWork.locked('line', async () => {
          begun++;
          const [found] = await alertRules.all();
          if (found) await alertRules.save([{ ...found, failuresInARow: found.failuresInARow + 1 }]);
        });
      });
      expect((await here.alertRules.find(rule.id))?.failuresInARow).toBe(24);
      expect(begun).toBe(24);
    });

    it('does not make holders of different names wait for each other', async () => {
      const { opened: released, open: release } = gate();
      const first = here.unitOfWork.locked('one', () => released);
      const second = here.unitOfWork.locked('one', async () => 'second');
      expect(await here.unitOfWork.locked('other', async () => 'other')).toBe('other');
      release();
      await first;
      expect(await second).toBe('second');
    });

    it('makes shared holders wait for an exclusive holder, and then shows them its writes', async () => {
      const { opened: released, open: release } = gate();
      const [rule, later] = [aRule(), aRule()];
      const { opened: begun, open: begin } = gate();
      const first = here.unitOfWork.locked('line', async () => {
        begin();
        await released;
        await here.alertRules.add(rule);
      });
      await begun;
      const [one, other] = [here, elsewhere].map(({ unitOfWork, alertRules }) =>
        unitOfWork.locked('line', () => alertRules.all(), 'shared'),
      );
      release();
      await first;
      expect([await one, await other]).toEqual([[rule], [rule]]);
      const last = elsewhere.unitOfWork.locked('line', () => elsewhere.alertRules.add(later));
      await last;
      expect(await here.alertRules.all()).toHaveLength(2);
    });

    it('throws inside a unit of work', async () => {
      const within = here.unitOfWork.run(() => here.unitOfWork.locked('line', async () => undefined));
      await expect(within).rejects.toThrow('unit of work');
    });
  });
}
