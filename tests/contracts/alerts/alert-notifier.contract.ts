import type { AlertNotifier, AlertRepository } from '../../../src/application/alerts/ports.js';
import type { UnitOfWork } from '../../../src/application/shared/ports.js';
import type { Alert } from '../../../src/domain/alerts/alert.js';
import { anAlert, at } from '../../support/records.js';

export interface NotifierUnderTest {
  readonly notifier: AlertNotifier;
  readonly unitOfWork: UnitOfWork;
  /** Is present for a notifier that reads the alerts from their repository. */
  readonly alerts?: AlertRepository;
  /** Adds a receiver that wants to know of alerts. */
  switchOn(): Promise<void>;
  /** Returns the ids of the announced alerts. An id is there twice if its alert was announced twice. */
  announcedIds(): Promise<string[]>;
  /** Returns the ids of the announced acknowledgements. Is present for a notifier that announces them. */
  acknowledgedIds?(): Promise<string[]>;
}

export function alertNotifierContract(adapter: string, open: () => Promise<NotifierUnderTest>) {
  describe(`AlertNotifier by ${adapter}`, () => {
    let rig: NotifierUnderTest;
    beforeEach(async () => {
      rig = await open();
    });

    const announce = async (...alerts: Alert[]): Promise<string[]> => {
      await rig.unitOfWork.run(async () => {
        await rig.alerts?.add(alerts);
        await rig.notifier.announce(alerts);
      });
      return alerts.map(({ id }) => id);
    };

    const acknowledge = async (alert: Alert): Promise<void> => {
      const acknowledged = { ...alert, ackedAt: at(9), ackedBy: 'usr_1', note: '<!channel> & \n' };
      await rig.alerts?.acknowledge(alert.id, { at: at(9), by: 'usr_1', note: acknowledged.note });
      await rig.notifier.acknowledged(acknowledged);
    };

    const failing = (work: () => Promise<void>): Promise<void> => {
      const failure = new Error('no');
      const failed = rig.unitOfWork.run(async () => {
        await work();
        throw failure;
      });
      return expect(failed).rejects.toBe(failure);
    };

    it('never announces alerts that fired before it was switched on', async () => {
      await announce(anAlert());
      expect(await rig.announcedIds()).toEqual([]);
      await rig.switchOn();
      expect(await rig.announcedIds()).toEqual([]);
    });

    it('announces each alert once, also when several fire together', async () => {
      await rig.switchOn();
      const ids = await announce(anAlert(), anAlert({ severity: 'P4', ruleName: '"\u{1F986}" <b>\n' }), anAlert());
      expect((await rig.announcedIds()).sort()).toEqual(ids.sort());
      const later = await announce(anAlert());
      expect((await rig.announcedIds()).sort()).toEqual([...ids, ...later].sort());
    });

    it('announces nothing if the transaction is rolled back', async () => {
      await rig.switchOn();
      await failing(() => rig.notifier.announce([anAlert()]));
      expect(await rig.announcedIds()).toEqual([]);
    });

    it('announces a stored acknowledgement once, if it announces acknowledgements', async () => {
      await rig.switchOn();
      const [alert, other] = [anAlert(), anAlert()];
      const ids = await announce(alert, other);
      expect((await rig.announcedIds()).sort()).toEqual(ids.sort());
      await failing(() => acknowledge(alert));
      expect((await rig.acknowledgedIds?.()) ?? []).toEqual([]);
      await rig.unitOfWork.run(() => acknowledge(alert));
      if (rig.acknowledgedIds) expect(await rig.acknowledgedIds()).toEqual([alert.id]);
      expect((await rig.announcedIds()).sort()).toEqual(ids.sort());
    });
  });
}
