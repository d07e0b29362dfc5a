import type { AlertNotifier } from '../../../src/application/alerts/ports.js';
import type { UnitOfWork } from '../../../src/application/shared/ports.js';
import { anAlert } from '../../support/records.js';

export interface NotifierUnderTest {
  readonly notifier: AlertNotifier;
  readonly unitOfWork: UnitOfWork;
  /** From now on somebody wants to hear of alerts. */
  switchOn(): Promise<void>;
  /** The ids of the alerts that this somebody will be told of, as often as it will be. */
  told(): Promise<string[]>;
}

export function alertNotifierContract(adapter: string, open: () => Promise<NotifierUnderTest>) {
  describe(`AlertNotifier by ${adapter}`, () => {
    let way: NotifierUnderTest;
    beforeEach(async () => {
      way = await open();
    });

    const announced = async (...alerts: ReturnType<typeof anAlert>[]): Promise<string[]> => {
      await way.unitOfWork.run(() => way.notifier.announce(alerts));
      return alerts.map(({ id }) => id);
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
      const failure = new Error('no');
      const work = async () => {
        await way.notifier.announce([anAlert()]);
        throw failure;
      };
      await expect(way.unitOfWork.run(work)).rejects.toBe(failure);
      expect(await way.told()).toEqual([]);
    });
  });
}
