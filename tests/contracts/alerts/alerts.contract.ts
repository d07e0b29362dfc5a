import { atOnce } from '../../support/barrier.js';
import { anAlert, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

const all = { limit: 1_000, after: null };

export function alertsContract(adapter: string, store: StoreUnderTest) {
  describe(`Alerts kept by ${adapter}`, () => {
    let alerts: Repositories['alerts'];
    let elsewhere: Repositories['alerts'];

    beforeEach(async () => {
      alerts = (await store.open()).alerts;
      elsewhere = (await store.elsewhere()).alerts;
    });

    const acknowledged = { ackedAt: at(9), ackedBy: 'usr_1', note: 'seen' };
    const seen = { at: at(9), by: 'usr_1', note: 'seen' };

    it('gives back exactly what was added', async () => {
      const [plain, rich] = [anAlert(), anAlert({ ...acknowledged, ruleName: '"\u{1F986}" \n', severity: 'P4' })];
      await alerts.add([plain, rich]);
      for (const alert of [plain, rich]) expect(await elsewhere.find(alert.id)).toEqual(alert);
      expect(await alerts.find(ids.next('alr'))).toBeNull();
    });

    it('has one of a rule and a job at most', async () => {
      const first = anAlert();
      await alerts.add([first]);
      const again = { ...first, id: ids.next('alr') };
      const [otherJob, otherRule] = [
        { ...again, id: ids.next('alr'), jobId: ids.next('job') },
        { ...again, id: ids.next('alr'), ruleId: ids.next('rul') },
      ];
      await alerts.add([again, otherJob, otherRule]);
      expect(await alerts.list(null, all)).toEqual([otherRule, otherJob, first]);
    });

    it('lists the newest first, a page at a time, by status', async () => {
      const [one, two, three, four] = [anAlert(), anAlert(acknowledged), anAlert(), anAlert(acknowledged)];
      await alerts.add([two, four, one, three]);
      expect(await elsewhere.list(null, all)).toEqual([four, three, two, one]);
      expect(await elsewhere.list(null, { limit: 2, after: four.id })).toEqual([three, two]);
      expect(await elsewhere.list('firing', all)).toEqual([three, one]);
      expect(await elsewhere.list('acked', all)).toEqual([four, two]);
      expect(await elsewhere.list('acked', { limit: 5, after: four.id })).toEqual([two]);
    });

    it('keeps the first acknowledgement', async () => {
      const [alert, other] = [anAlert(), anAlert()];
      await alerts.add([alert, other]);
      expect(await alerts.acknowledge(alert.id, seen)).toBe(true);
      expect(await elsewhere.acknowledge(alert.id, { at: at(10), by: 'usr_2', note: null })).toBe(false);
      expect(await alerts.acknowledge(ids.next('alr'), seen)).toBe(false);
      expect(await alerts.find(alert.id)).toEqual({ ...alert, ...acknowledged });
      expect(await alerts.find(other.id)).toEqual(other);
    });

    it('keeps one acknowledgement whole, however many come at once', async () => {
      const alert = anAlert();
      await alerts.add([alert]);
      const outcomes = await atOnce(6, (party) =>
        (party % 2 ? alerts : elsewhere).acknowledge(alert.id, { at: at(party), by: `usr_${party}`, note: `${party}` }),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const { ackedAt, ackedBy, note } = (await alerts.find(alert.id)) ?? alert;
      expect({ ackedAt, ackedBy }).toEqual({ ackedAt: at(Number(note)), ackedBy: `usr_${note}` });
    });
  });
}
