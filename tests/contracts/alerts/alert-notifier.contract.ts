import type { AlertEvent, AlertNotifier, DeliveryOutcome } from '../../../src/application/alerts/ports.js';
import type { Alert } from '../../../src/domain/alerts/alert.js';
import { anAlert, at } from '../../support/records.js';
import { answering, WebhookReceiver } from '../../support/webhook-receiver.js';

export interface NotifierUnderTest {
  readonly notifier: AlertNotifier;
  /** Returns the ids of the alerts in a message. */
  idsIn(message: string): string[];
  /** Returns the messages so far, oldest first. Default: the posts to the receiver. */
  readonly messages?: () => readonly string[];
}

const PERMANENT = [301, 302, 307, 400, 401, 403, 404, 405, 410, 413, 422];
const TEMPORARY = [408, 425, 429, 500, 502, 503, 504];

/** A webhook gets every alert again unless it answers 410. */
export const onlyGone = { permanent: [410], temporary: [...TEMPORARY, ...PERMANENT.filter((one) => one !== 410)] };

/**
 * Tests the promises of AlertNotifier. `open` creates a notifier with one receiver, which wants alerts. `posts` tells
 * whether the notifier posts to the given receiver. After the `permanent` statuses no other attempt can help.
 */
export function alertNotifierContract(
  adapter: string,
  open: (receiver: WebhookReceiver) => NotifierUnderTest | Promise<NotifierUnderTest>,
  { posts = true, permanent = PERMANENT, temporary = TEMPORARY } = {},
) {
  describe(`AlertNotifier by ${adapter}`, () => {
    let receiver: WebhookReceiver;
    let rig: NotifierUnderTest;
    beforeEach(async () => {
      receiver = await WebhookReceiver.start();
      rig = await open(receiver);
    });
    afterEach(() => receiver.stop());

    const messages = () => rig.messages?.() ?? receiver.posted.map(({ body }) => body);
    const announced = () =>
      messages()
        .flatMap((message) => rig.idsIn(message))
        .sort();

    async function deliver(alerts: Alert[], event: AlertEvent = 'fired', signal = new AbortController().signal) {
      const [name = ''] = await rig.notifier.receivers();
      return rig.notifier.deliver({ event, receiver: name, alerts }, signal);
    }

    const odd = { severity: 'P4', ruleName: '"\u{1F986}" <b>\n' } as const;

    it('has a name and wants to know of alerts that fire', () => {
      expect(rig.notifier.name).toMatch(/^[a-z_]{1,30}$/);
      expect(rig.notifier.events).toContain('fired');
    });

    it('delivers alerts once, also if several have fired together', async () => {
      const alerts = [anAlert(), anAlert(odd), anAlert()];
      const groups = rig.notifier.separately ? alerts.map((alert) => [alert]) : [alerts];
      for (const group of groups) expect(await deliver(group)).toEqual({ result: 'delivered' });
      expect(announced()).toEqual(alerts.map(({ id }) => id).sort());
    });

    it('delivers the other events that it wants', async () => {
      const acknowledged = anAlert({ ackedAt: at(9), ackedBy: 'usr_1', note: '<!channel> & \n' });
      const events = rig.notifier.events.filter((event) => event !== 'fired');
      for (const event of events)
        expect(await deliver([event === 'acknowledged' ? acknowledged : anAlert()], event)).toEqual({
          result: 'delivered',
        });
      expect(messages()).toHaveLength(events.length);
    });

    it('throws the reason of an aborted signal and delivers nothing', async () => {
      const reason = new Error('the end');
      await expect(deliver([anAlert()], 'fired', AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(announced()).toEqual([]);
    });

    if (!posts) return;

    /** Returns how the notifier judges an answer. An error counts as `retry`. */
    const judged = async (answer: WebhookReceiver['answer']): Promise<DeliveryOutcome> => {
      receiver.answer = answer;
      const outcome = await deliver([anAlert()]).catch(({ message: reason }) => ({ result: 'retry' as const, reason }));
      expect(JSON.stringify(outcome)).not.toContain('private');
      return outcome;
    };

    const echoing =
      (status: number): WebhookReceiver['answer'] =>
      (response) =>
        response.writeHead(status, { Location: receiver.url }).end('Cannot POST /in?key=private');

    const failed = (result: DeliveryOutcome['result']) => ({ result, reason: expect.stringMatching(/./) });

    it.each([200, 201, 204])('has delivered if the receiver answers %i', async (status) => {
      expect(await judged(answering(status))).toEqual({ result: 'delivered' });
    });

    it.each(permanent)('says that no other attempt can help if the receiver answers %i', async (status) => {
      expect(await judged(echoing(status))).toMatchObject(failed('failed'));
      expect(receiver.posted).toHaveLength(1);
    });

    it.each(temporary)('says that another attempt can help if the receiver answers %i', async (status) => {
      expect(await judged(echoing(status))).toMatchObject(failed('retry'));
      expect(receiver.posted).toHaveLength(1);
    });

    it('says that another attempt can help if the connection breaks', async () => {
      expect(await judged((response) => response.destroy())).toMatchObject(failed('retry'));
    });

    it('says that another attempt can help if the receiver refuses connections', async () => {
      await receiver.stop();
      expect(await judged(answering(200))).toMatchObject(failed('retry'));
      receiver = await WebhookReceiver.start();
    });

    it('throws the reason when the signal is aborted during the delivery', async () => {
      const [reason, abort] = [new Error('the end'), new AbortController()];
      receiver.answer = () => abort.abort(reason);
      await expect(deliver([anAlert()], 'fired', abort.signal)).rejects.toBe(reason);
    });
  });
}
