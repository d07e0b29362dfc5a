import type { Delivery, Webhook } from '../../../src/domain/alerts/webhook.js';
import { atOnce } from '../../support/barrier.js';
import { anAlert, aRule, at, aWebhook, ids } from '../../support/records.js';
import { expectPages, type Repositories, type StoreUnderTest } from '../../support/repositories.js';

const all = { limit: 1_000, after: null };

export function alertsContract(adapter: string, store: StoreUnderTest) {
  describe(`alerts in ${adapter}`, () => {
    let here: Repositories;
    let elsewhere: Repositories;
    beforeEach(async () => {
      here = await store.open();
      elsewhere = await store.elsewhere();
    });

    describe('AlertRuleRepository', () => {
      it('returns a rule exactly as it was added', async () => {
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
          budgetId: 'bud_1',
          windowMinutes: 1_440,
          minCalls: 10_000,
          firedAt: at(4),
        });
        for (const rule of [aRule(), rich]) {
          await here.alertRules.add(rule);
          expect(await elsewhere.alertRules.find(rule.id)).toEqual(rule);
        }
        expect(await here.alertRules.find(ids.next('rul'))).toBeNull();
      });

      it('lists rules newest first, saves no removed rule, and removes a rule once', async () => {
        const [one, two, three, gone] = [aRule(), aRule(), aRule(), aRule()];
        for (const rule of [two, one, three]) await here.alertRules.add(rule);
        expect(await elsewhere.alertRules.all()).toEqual([three, two, one]);
        const change = {
          name: 'another',
          threshold: 1e9,
          severity: 'P3',
          failuresInARow: 2,
          firedInRun: true,
          firedAt: at(5),
        } as const;
        const next = { ...one, ...change, enabled: false };
        await here.alertRules.save([next, gone]);
        expect(await elsewhere.alertRules.all()).toEqual([three, two, next]);
        expect(await here.alertRules.remove(one.id)).toBe(true);
        expect(await here.alertRules.remove(one.id)).toBe(false);
        expect(await elsewhere.alertRules.all()).toEqual([three, two]);
      });
    });

    describe('AlertRepository', () => {
      const acknowledged = { ackedAt: at(9), ackedBy: 'usr_1', note: 'seen' };
      const seen = { at: at(9), by: 'usr_1', note: 'seen' };

      it('returns an alert exactly as it was added', async () => {
        const [plain, rich] = [anAlert(), anAlert({ ...acknowledged, ruleName: '"\u{1F986}" \n', severity: 'P4' })];
        await here.alerts.add([plain, rich]);
        for (const alert of [plain, rich]) expect(await elsewhere.alerts.find(alert.id)).toEqual(alert);
        expect(await here.alerts.find(ids.next('alr'))).toBeNull();
      });

      it('stores at most one alert for a rule and a job', async () => {
        const first = anAlert();
        await here.alerts.add([first]);
        const again = { ...first, id: ids.next('alr') };
        const otherJob = { ...first, id: ids.next('alr'), jobId: ids.next('job') };
        const otherRule = { ...first, id: ids.next('alr'), ruleId: ids.next('rul') };
        await here.alerts.add([again, otherJob, otherRule]);
        expect(await here.alerts.list(null, all)).toEqual([otherRule, otherJob, first]);
      });

      it('lists alerts by status, newest first, in pages', async () => {
        const [one, two, three, four] = [anAlert(), anAlert(acknowledged), anAlert(), anAlert(acknowledged)];
        await here.alerts.add([two, four, one, three]);
        const { alerts } = elsewhere;
        await expectPages((page) => alerts.list(null, page), [four, three, two, one]);
        await expectPages((page) => alerts.list('firing', page), [three, one]);
        await expectPages((page) => alerts.list('acked', page), [four, two]);
      });

      it('stores the first of several concurrent acknowledgements as a whole', async () => {
        const [alert, other] = [anAlert(), anAlert()];
        await here.alerts.add([alert, other]);
        const outcomes = await atOnce(6, (party) =>
          (party % 2 ? here : elsewhere).alerts.acknowledge(alert.id, {
            at: at(party),
            by: `usr_${party}`,
            note: `${party}`,
          }),
        );
        expect(outcomes.filter(Boolean)).toHaveLength(1);
        const found = await here.alerts.find(alert.id);
        const first = Number(found?.note);
        expect(found).toEqual({ ...alert, ackedAt: at(first), ackedBy: `usr_${first}`, note: `${first}` });
        expect(await here.alerts.acknowledge(alert.id, seen)).toBe(false);
        expect(await here.alerts.acknowledge(ids.next('alr'), seen)).toBe(false);
        expect(await here.alerts.find(alert.id)).toEqual(found);
        expect(await here.alerts.find(other.id)).toEqual(other);
      });
    });

    describe('WebhookRepository', () => {
      const delivery = (over: Partial<Delivery> = {}): Delivery => ({
        at: at(7.001),
        alertId: 'alr_1',
        status: 200,
        error: null,
        ...over,
      });

      it('returns webhooks exactly as they were added, oldest first; `open` also returns the secret', async () => {
        const { webhooks } = here;
        const [first, second] = [aWebhook(), aWebhook({ url: 'https://example.com/ä?k="1"', createdBy: 'master' })];
        for (const webhook of [second, first]) await webhooks.add(webhook, `whsec_${webhook.id}`);
        expect(await elsewhere.webhooks.open(second.id)).toEqual({ webhook: second, secret: `whsec_${second.id}` });
        expect(await elsewhere.webhooks.all()).toEqual([first, second]);
        expect(await webhooks.open(ids.next('whk'))).toBeNull();
      });

      it('stores the newest 20 deliveries of a webhook', async () => {
        const { webhooks } = here;
        const [webhook, other] = [aWebhook(), aWebhook()];
        for (const one of [webhook, other]) await webhooks.add(one, 'whsec_1');
        const noted: Delivery[] = [];
        for (const one of [delivery({ status: null, error: 'no answer' }), delivery({ status: 500, error: 'x' })]) {
          await elsewhere.webhooks.note(webhook.id, one);
          noted.unshift(one);
          expect(await webhooks.all()).toEqual([{ ...webhook, deliveries: noted }, other]);
        }
        const alertIds = Array.from({ length: 30 }, (_, number) => `alr_${number}`);
        for (const alertId of alertIds) await webhooks.note(webhook.id, delivery({ alertId }));
        const [{ deliveries }] = (await webhooks.all()) as [Webhook];
        expect(deliveries.map(({ alertId }) => alertId)).toEqual(alertIds.toReversed().slice(0, 20));
        await webhooks.note(ids.next('whk'), delivery());
        expect(await webhooks.open(webhook.id)).toMatchObject({ secret: 'whsec_1', webhook: { enabled: true } });
      });

      it('disables a webhook for good after status 410, also with concurrent deliveries', async () => {
        const webhook = aWebhook();
        await here.webhooks.add(webhook, 'whsec_1');
        await atOnce(6, (party) =>
          (party % 2 ? here : elsewhere).webhooks.note(webhook.id, delivery({ status: party === 2 ? 410 : 200 })),
        );
        const [{ enabled, deliveries }] = (await elsewhere.webhooks.all()) as [Webhook];
        expect([enabled, deliveries.length]).toEqual([false, 6]);
        await here.webhooks.note(webhook.id, delivery());
        expect(await here.webhooks.all()).toMatchObject([
          { enabled: false, deliveries: Array.from({ length: 7 }, () => expect.anything()) },
        ]);
      });

      it('removes a webhook once', async () => {
        const [webhook, other] = [aWebhook(), aWebhook()];
        for (const one of [webhook, other]) await here.webhooks.add(one, 'whsec_1');
        const removed = await atOnce(4, (party) => (party % 2 ? here : elsewhere).webhooks.remove(webhook.id));
        expect(removed.filter(Boolean)).toEqual([true]);
        expect(await here.webhooks.open(webhook.id)).toBeNull();
        expect(await elsewhere.webhooks.all()).toEqual([other]);
      });
    });

    it('counts the messages of a receiver since a moment, until they are removed', async () => {
      const [receiver, other] = [ids.next('usr'), ids.next('usr')];
      for (const one of [receiver, other])
        for (const second of [1, 2])
          await here.alerts.addMessage({ id: ids.next('msg'), receiver: one, sentAt: at(second) });
      const counted = (seconds: number) => elsewhere.alerts.countMessages(receiver, at(seconds));
      expect([await counted(1), await counted(1.5), await counted(2), await counted(2.1)]).toEqual([2, 1, 1, 0]);
      expect(await elsewhere.alerts.removeMessages(receiver, 1)).toBe(1);
      expect(await counted(1)).toBe(1);
      expect(await elsewhere.alerts.removeMessages(receiver, 2)).toBe(1);
      expect([await counted(1), await elsewhere.alerts.countMessages(other, at(1))]).toEqual([0, 2]);
    });
  });
}
