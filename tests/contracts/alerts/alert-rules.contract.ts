import { aRule, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function alertRulesContract(adapter: string, store: StoreUnderTest) {
  describe(`AlertRules kept by ${adapter}`, () => {
    let rules: Repositories['alertRules'];
    let elsewhere: Repositories['alertRules'];

    beforeEach(async () => {
      rules = (await store.open()).alertRules;
      elsewhere = (await store.elsewhere()).alertRules;
    });

    it('gives back exactly what was added', async () => {
      const plain = aRule();
      const rich = aRule({
        name: '"\u{1F986}" \n',
        ruleType: 'job_duration_exceeded',
        threshold: 0.1 + 0.2,
        jobKind: 'chat',
        severity: 'P4',
        enabled: false,
        createdAt: at(3),
        failuresInARow: 10_000,
        firedInRun: true,
      });
      for (const rule of [plain, rich]) {
        await rules.add(rule);
        expect(await elsewhere.find(rule.id)).toEqual(rule);
      }
      expect(await rules.find(ids.next('rul'))).toBeNull();
    });

    it('lists all, the newest first', async () => {
      expect(await rules.all()).toEqual([]);
      const [one, two, three] = [aRule(), aRule(), aRule()];
      for (const rule of [two, one, three]) await rules.add(rule);
      expect(await elsewhere.all()).toEqual([three, two, one]);
    });

    it('writes some, and brings none back', async () => {
      const [one, two, gone] = [aRule(), aRule(), aRule()];
      for (const rule of [one, two]) await rules.add(rule);
      const next = {
        ...one,
        name: 'another',
        threshold: 1e9,
        severity: 'P3' as const,
        enabled: false,
        failuresInARow: 2,
        firedInRun: true,
      };
      await rules.save([next, gone]);
      expect(await elsewhere.all()).toEqual([two, next]);
    });

    it('removes one', async () => {
      const [one, two] = [aRule(), aRule()];
      for (const rule of [one, two]) await rules.add(rule);
      expect(await rules.remove(one.id)).toBe(true);
      expect(await rules.remove(one.id)).toBe(false);
      expect(await elsewhere.all()).toEqual([two]);
    });
  });
}
