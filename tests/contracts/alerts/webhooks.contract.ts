import type { Delivery } from '../../../src/domain/alerts/webhook.js';
import { atOnce } from '../../support/barrier.js';
import { at, aWebhook, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function webhooksContract(adapter: string, store: StoreUnderTest) {
  describe(`Webhooks kept by ${adapter}`, () => {
    let webhooks: Repositories['webhooks'];
    let elsewhere: Repositories['webhooks'];
    beforeEach(async () => {
      webhooks = (await store.open()).webhooks;
      elsewhere = (await store.elsewhere()).webhooks;
    });

    const delivery = (over: Partial<Delivery> = {}): Delivery => ({
      at: at(7.001),
      alertId: 'alr_1',
      status: 200,
      error: null,
      ...over,
    });

    it('gives back exactly what was added, with its secret to who opens it', async () => {
      const webhook = aWebhook({ url: 'https://example.com/ä?k="1"', createdBy: 'master' });
      await webhooks.add(webhook, 'whsec_1');
      expect(await elsewhere.open(webhook.id)).toEqual({ webhook, secret: 'whsec_1' });
      expect(await elsewhere.all()).toEqual([webhook]);
      expect(await webhooks.open(ids.next('whk'))).toBeNull();
    });

    it('lists the oldest first', async () => {
      const [first, second, third] = [aWebhook(), aWebhook(), aWebhook()];
      for (const webhook of [second, third, first]) await webhooks.add(webhook, 'whsec_1');
      expect(await webhooks.all()).toEqual([first, second, third]);
    });

    it('keeps the last delivery', async () => {
      const [webhook, other] = [aWebhook(), aWebhook()];
      await webhooks.add(webhook, 'whsec_1');
      await webhooks.add(other, 'whsec_2');
      for (const one of [delivery({ status: null, error: 'no answer' }), delivery({ status: 500, error: 'x' })]) {
        await elsewhere.note(webhook.id, one);
        expect(await webhooks.all()).toEqual([{ ...webhook, lastDelivery: one }, other]);
      }
      await webhooks.note(ids.next('whk'), delivery());
      expect(await webhooks.open(webhook.id)).toMatchObject({ secret: 'whsec_1', webhook: { enabled: true } });
    });

    it('disables for good one whose receiver is gone, whatever is noted at the same time', async () => {
      const webhook = aWebhook();
      await webhooks.add(webhook, 'whsec_1');
      await atOnce(6, (party) =>
        (party % 2 ? webhooks : elsewhere).note(webhook.id, delivery({ status: party === 2 ? 410 : 200 })),
      );
      expect(await elsewhere.all()).toMatchObject([{ id: webhook.id, enabled: false }]);
      await webhooks.note(webhook.id, delivery());
      expect(await webhooks.open(webhook.id)).toMatchObject({ webhook: { enabled: false, lastDelivery: delivery() } });
    });

    it('removes one, once', async () => {
      const [webhook, other] = [aWebhook(), aWebhook()];
      await webhooks.add(webhook, 'whsec_1');
      await webhooks.add(other, 'whsec_2');
      const removed = await atOnce(4, (party) => (party % 2 ? webhooks : elsewhere).remove(webhook.id));
      expect(removed.filter(Boolean)).toEqual([true]);
      expect(await webhooks.open(webhook.id)).toBeNull();
      expect(await elsewhere.all()).toEqual([other]);
    });
  });
}
