import type { Alert } from '../../../src/domain/alerts/alert.js';
import { anAlert, at, aWebhook } from '../../support/records.js';
import { webhookRig } from '../../support/webhook-rig.js';

const HOUR_MS = 3_600_000;

describe('WebhookDelivery', () => {
  let rig: Awaited<ReturnType<typeof webhookRig>>;
  beforeEach(async () => {
    rig = await webhookRig();
  });
  afterEach(() => rig.stop());

  const fired = async (...alerts: Alert[]) => {
    await rig.alerts.add(alerts);
    await rig.notifier.announce(alerts);
    return rig.settled();
  };
  const hooked = async (url: string, secret = `secret of ${url}`) => {
    const webhook = aWebhook({ url });
    await rig.webhooks.add(webhook, secret);
    return webhook;
  };
  const last = async () => (await rig.webhooks.all())[0]?.lastDelivery;
  const later = async (ms: number) => {
    rig.clock.advance(ms);
    return rig.settled();
  };

  it('posts the alert as the API showed it when it fired', async () => {
    await hooked('https://one.example/');
    rig.sender.status = 500;
    const alert = anAlert();
    expect(await fired(alert)).toBe(1);
    await rig.alerts.acknowledge(alert.id, { at: at(9), by: 'usr_1', note: 'seen' });
    rig.sender.status = 200;
    expect(await later(HOUR_MS)).toBe(0);
    const [first, second] = rig.sender.posted;
    expect(second).toEqual({ ...first, sentAt: rig.clock.now() });
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

  it('retries a failed delivery for more than a day, and then gives up', async () => {
    await hooked('https://one.example/');
    rig.sender.status = 503;
    const alert = anAlert();
    await fired(alert);
    const begun = rig.clock.now().getTime();
    for (let hours = 0; hours < 60; hours++) await later(HOUR_MS);
    expect(rig.sender.posted).toHaveLength(15);
    const spent = (rig.sender.posted.at(-1)?.sentAt.getTime() ?? 0) - begun;
    expect(spent / HOUR_MS).toBeGreaterThan(24);
    expect(new Set(rig.sender.posted.map(({ id, body }) => id + body)).size).toBe(1);
    expect(await last()).toMatchObject({ status: 503, alertId: alert.id, error: expect.any(String) });
    expect(rig.log.of('alert given up')).toMatchObject([{ fields: { alert_id: alert.id } }]);
  });

  it('sends nothing for a while to a receiver that did not answer', async () => {
    await hooked('https://one.example/');
    rig.sender.status = null;
    await fired(anAlert());
    expect(await last()).toMatchObject({ status: null });
    await fired(anAlert());
    await later(20_000);
    expect(rig.sender.posted).toHaveLength(1);
    rig.sender.status = 200;
    expect(await later(HOUR_MS)).toBe(0);
    expect(rig.sender.posted).toHaveLength(3);
  });

  it('posts nothing more to a deleted webhook, not even waiting alerts', async () => {
    const { id } = await hooked('https://one.example/');
    rig.sender.status = 500;
    expect(await fired(anAlert())).toBe(1);
    await rig.webhooks.remove(id);
    expect(await later(HOUR_MS)).toBe(0);
    expect(rig.sender.posted).toHaveLength(1);
  });

  it('posts only alerts that fire after the webhook was added', async () => {
    const early = anAlert();
    await fired(early);
    await hooked('https://one.example/');
    const late = anAlert();
    await fired(late);
    expect(rig.sender.posted.map(({ id }) => id)).toEqual([late.id]);
  });
});
