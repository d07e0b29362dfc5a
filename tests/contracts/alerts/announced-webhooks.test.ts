import type { AlertNotifier } from '../../../src/application/alerts/ports.js';
import { WebhookNotifier } from '../../../src/infrastructure/notifiers/webhook-notifier.js';
import { alertFired } from '../../../src/interfaces/http/alerts/webhooks.controller.js';
import { MemoryWebhookSender } from '../../fakes/alerts/memory-webhook-sender.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { announcerRig } from '../../support/announcer-rig.js';
import { anAlert, at, aWebhook } from '../../support/records.js';

describe('webhooks behind AlertAnnouncer', () => {
  const rig = announcerRig();
  let sender: MemoryWebhookSender;
  let clock: ManualClock;
  let instance: Awaited<ReturnType<typeof rig.instance>>;
  beforeEach(async () => {
    [sender, clock] = [new MemoryWebhookSender(), new ManualClock(at(0))];
    const notifiers: AlertNotifier[] = [];
    instance = await rig.instance(notifiers);
    notifiers.push(new WebhookNotifier(alertFired, instance.webhooks, sender, clock));
  });

  const hooked = async (url = 'https://one.example/') => {
    const webhook = aWebhook({ url });
    await instance.webhooks.add(webhook, `secret of ${url}`);
    return webhook;
  };
  const last = async () => (await instance.webhooks.all())[0]?.deliveries[0] ?? null;
  const later = async () => {
    clock.advance(60_000);
    return rig.skip();
  };

  it('get the alert as the API showed it when it fired', async () => {
    await hooked();
    sender.status = 500;
    const alert = anAlert();
    await instance.fire(alert);
    expect(await rig.settled()).toHaveLength(1);
    await instance.alerts.acknowledge(alert.id, { at: at(9), by: 'usr_1', note: 'seen' });
    sender.status = 200;
    await later();
    expect(await rig.settled()).toEqual([]);
    const [first, second] = sender.posted;
    expect(second).toEqual({ ...first, sentAt: clock.now() });
    expect(JSON.parse(first?.body ?? '')).toEqual({
      type: 'alert.fired',
      timestamp: alert.createdAt.toISOString(),
      data: expect.objectContaining({
        id: alert.id,
        job_id: alert.jobId,
        status: 'firing',
        acked_at: null,
        note: null,
      }),
    });
  });

  it('get an alert again for more than a day if they are busy, until the service gives up', async () => {
    await hooked();
    sender.status = 503;
    const alert = anAlert();
    await instance.fire(alert);
    let seconds = 0;
    while ((await rig.settled()).length > 0) seconds += await later();
    expect(sender.posted).toHaveLength(15);
    expect(seconds).toBeGreaterThan(24 * 3_600);
    expect(new Set(sender.posted.map(({ id, body }) => id + body)).size).toBe(1);
    expect(await last()).toMatchObject({ status: 503, alertId: alert.id, error: expect.any(String) });
    expect(instance.log.of('alerts given up')).toMatchObject([{ fields: { alert_ids: [alert.id] } }]);
  });

  it('get nothing for a while if they did not answer', async () => {
    await hooked();
    sender.status = null;
    await instance.fire(anAlert());
    expect(await rig.settled()).toHaveLength(1);
    expect(await last()).toMatchObject({ status: null });
    await instance.fire(anAlert());
    await rig.skip();
    expect(sender.posted).toHaveLength(1);
    sender.status = 200;
    await later();
    expect(await rig.settled()).toEqual([]);
    expect(sender.posted).toHaveLength(3);
  });

  it('are disabled if they answer 410', async () => {
    await hooked();
    sender.status = 410;
    await instance.fire(anAlert());
    expect(await rig.settled()).toEqual([]);
    await instance.fire(anAlert());
    expect(await rig.settled()).toEqual([]);
    expect(sender.posted).toHaveLength(1);
    expect(await instance.webhooks.all()).toMatchObject([{ enabled: false, deliveries: [{ status: 410 }] }]);
  });

  it('get nothing more after they were deleted, not even waiting alerts', async () => {
    const { id } = await hooked();
    sender.status = 500;
    await instance.fire(anAlert());
    expect(await rig.settled()).toHaveLength(1);
    await instance.webhooks.remove(id);
    await later();
    expect(await rig.settled()).toEqual([]);
    expect(sender.posted).toHaveLength(1);
  });

  it('get only alerts that fire after they were added', async () => {
    await instance.fire(anAlert());
    await hooked();
    const late = anAlert();
    await instance.fire(late);
    expect(await rig.settled()).toEqual([]);
    expect(sender.posted.map(({ id }) => id)).toEqual([late.id]);
  });
});
