import type { AlertNotifier, AlertRepository } from '../../../src/application/alerts/ports.js';
import type { UnitOfWork } from '../../../src/application/shared/ports.js';
import type { Alert } from '../../../src/domain/alerts/alert.js';
import { anAlert, at } from '../../support/records.js';

export interface NotifierUnderTest {
  readonly notifier: AlertNotifier;
  readonly unitOfWork: UnitOfWork;
  /** For a notifier that reads alerts when it tells of them. */
  readonly alerts?: AlertRepository;
  /** From now on somebody wants to hear of alerts. */
  switchOn(): Promise<void>;
  /** The ids of the alerts that this somebody will be told of, as often as it will be. */
  told(): Promise<string[]>;
  /** The same for acknowledgements, of a notifier that tells of them. */
  toldOfEnds?(): Promise<string[]>;
}

export function alertNotifierContract(adapter: string, open: () => Promise<NotifierUnderTest>) {
  describe(`AlertNotifier by ${adapter}`, () => {
    let way: NotifierUnderTest;
    beforeEach(async () => {
      way = await open();
    });

    const announced = async (...alerts: Alert[]): Promise<string[]> => {
      await way.unitOfWork.run(async () => {
        await way.alerts?.add(alerts);
        await way.notifier.announce(alerts);
      });
      return alerts.map(({ id }) => id);
    };

    const acknowledge = async (alert: Alert): Promise<void> => {
      const acknowledged = { ...alert, ackedAt: at(9), ackedBy: 'usr_1', note: '<!channel> & \n' };
      await way.alerts?.acknowledge(alert.id, { at: at(9), by: 'usr_1', note: acknowledged.note });
      await way.notifier.acknowledged(acknowledged);
    };

    const failing = (work: () => Promise<void>): Promise<void> => {
      const failure = new Error('no');
      const failed = way.unitOfWork.run(async () => {
        await work();
        throw failure;
      });
      return expect(failed).rejects.toBe(failure);
    };

    it('tells nobody who has not switched it on', async () => {
      await announced(anAlert());
      expect(await way.told()).toEqual([]);
      await way.switchOn();
      expect(await way.told()).toEqual([]);
    });

    it('tells of each alert once, of those that fire at once and of those that come later', async () => {
      await way.switchOn();
      const ids = await announced(anAlert(), anAlert({ severity: 'P4', ruleName: '"\u{1F986}" <b>\n' }), anAlert());
      expect((await way.told()).sort()).toEqual(ids.sort());
      const later = await announced(anAlert());
      expect((await way.told()).sort()).toEqual([...ids, ...later].sort());
    });

    it('tells of nothing that is not stored', async () => {
      await way.switchOn();
      await failing(() => way.notifier.announce([anAlert()]));
      expect(await way.told()).toEqual([]);
    });

    it('tells of a stored acknowledgement once, or never tells of any', async () => {
      await way.switchOn();
      const [alert, other] = [anAlert(), anAlert()];
      const ids = await announced(alert, other);
      expect((await way.told()).sort()).toEqual(ids.sort());
      await failing(() => acknowledge(alert));
      expect((await way.toldOfEnds?.()) ?? []).toEqual([]);
      await way.unitOfWork.run(() => acknowledge(alert));
      if (way.toldOfEnds) expect(await way.toldOfEnds()).toEqual([alert.id]);
      expect((await way.told()).sort()).toEqual(ids.sort());
    });
  });
}
