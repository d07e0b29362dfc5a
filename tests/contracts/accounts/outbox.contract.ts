import type { OutgoingMail } from '../../../src/application/accounts/ports.js';
import type { Message } from '../../../src/domain/accounts/mailed-token.js';
import { atOnce } from '../../support/barrier.js';
import { aMessage, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

const ENDLESS = 100;

export function outboxContract(adapter: string, store: StoreUnderTest) {
  describe(`MailOutbox of ${adapter}`, () => {
    let outbox: Repositories['outbox'];
    let unitOfWork: Repositories['unitOfWork'];
    beforeEach(async () => {
      ({ outbox, unitOfWork } = await store.open());
    });

    const waiting = async (dueAt: Date, message: Message = aMessage()): Promise<string> => {
      const id = ids.next('msg');
      await outbox.add({ id, message, dueAt });
      return id;
    };
    /** Takes all due mail and returns the ids in order. */
    const takeAll = async (now: Date, leasedUntil: Date, from = outbox): Promise<string[]> => {
      const taken: string[] = [];
      while (taken.length < ENDLESS) {
        const mail = await from.take(now, leasedUntil);
        if (!mail) return taken;
        taken.push(mail.id);
      }
      throw new Error('it gives the same mail again and again');
    };

    it('gives a mail exactly as it was added', async () => {
      const message = aMessage({
        to: { name: 'Åse "A." O’Neill', address: 'åse@exämple.com' },
        subject: 'Grüße, 王秀英 🦆',
        text: 'a line\r\nanother\n\ttab\n',
        html: '<p>&lt;&amp;</p>',
      });
      const id = await waiting(at(0), message);
      expect(await outbox.take(at(0), at(60))).toEqual<OutgoingMail>({ id, message, failures: 0 });
    });

    it('gives nothing before it is due', async () => {
      expect(await outbox.take(at(100), at(160))).toBeNull();
      const id = await waiting(at(10));
      expect(await outbox.take(at(9.999), at(60))).toBeNull();
      expect(await outbox.take(at(10), at(60))).toMatchObject({ id });
    });

    it('gives what has been due longest first', async () => {
      const [late, early, middle] = [await waiting(at(3)), await waiting(at(1)), await waiting(at(2))];
      await waiting(at(4));
      expect(await takeAll(at(3), at(60))).toEqual([early, middle, late]);
    });

    it('gives a leased mail to nobody until its lease is over', async () => {
      const id = await waiting(at(0));
      await outbox.take(at(0), at(60));
      expect(await outbox.take(at(0), at(60))).toBeNull();
      expect(await outbox.take(at(59.999), at(120))).toBeNull();
      expect(await outbox.take(at(60), at(120))).toMatchObject({ id, failures: 0 });
      expect(await outbox.take(at(60), at(120))).toBeNull();
    });

    it('gives a mail whose delivery failed again when it is due, and counts', async () => {
      const [id, other] = [await waiting(at(0)), await waiting(at(1_000))];
      await outbox.take(at(0), at(60));
      await outbox.failed(id, at(5));
      expect(await outbox.take(at(4.999), at(60))).toBeNull();
      expect(await outbox.take(at(5), at(65))).toMatchObject({ id, failures: 1 });
      await outbox.failed(id, at(15));
      expect(await outbox.take(at(15), at(75))).toMatchObject({ id, failures: 2 });
      expect(await outbox.take(at(1_000), at(1_060))).toMatchObject({ id, failures: 2 });
      expect(await outbox.take(at(1_000), at(1_060))).toMatchObject({ id: other, failures: 0 });
    });

    it('never gives a delivered mail again', async () => {
      const [id, other] = [await waiting(at(0)), await waiting(at(1))];
      await outbox.take(at(0), at(60));
      await outbox.delivered(id, at(2));
      expect(await takeAll(at(10_000), at(20_000))).toEqual([other]);
    });

    it('not even when a sender whose lease was over says afterwards that it failed', async () => {
      const id = await waiting(at(0));
      await outbox.take(at(0), at(60));
      await outbox.delivered(id, at(2));
      await outbox.failed(id, at(5));
      expect(await outbox.take(at(10_000), at(20_000))).toBeNull();
    });

    it('counts the mails of a series since a moment, whatever has become of them', async () => {
      const added = async (seconds: number, series?: string) => {
        const id = ids.next('msg');
        await outbox.add({ id, message: aMessage(), dueAt: at(seconds), ...(series && { series }) });
        return id;
      };
      await added(0, 'a');
      const [delivered, failed] = [await added(10, 'a'), await added(11, 'a')];
      await added(12, 'b');
      await added(13);
      await takeAll(at(100), at(160));
      await outbox.delivered(delivered, at(101));
      await outbox.failed(failed, at(5_000));
      const elsewhere = (await store.elsewhere()).outbox;
      expect(await elsewhere.countOf('a', at(0))).toBe(3);
      expect(await elsewhere.countOf('a', at(10))).toBe(2);
      expect(await elsewhere.countOf('a', at(11.5))).toBe(0);
      expect(await elsewhere.countOf('c', at(0))).toBe(0);
    });

    it('has a mail only if the unit of work that added it commits', async () => {
      const failure = new Error('no');
      const fails = unitOfWork.run(async () => {
        await waiting(at(0));
        throw failure;
      });
      await expect(fails).rejects.toBe(failure);
      expect(await outbox.take(at(0), at(60))).toBeNull();
      const id = await unitOfWork.run(() => waiting(at(0)));
      expect(await outbox.take(at(0), at(60))).toMatchObject({ id });
    });

    it('gives each mail once, to whomever of many senders in several processes', async () => {
      const elsewhere = (await store.elsewhere()).outbox;
      const added: string[] = [];
      for (let mail = 0; mail < 24; mail++) added.push(await waiting(at(mail)));
      const taken = await atOnce(8, (party) => takeAll(at(100), at(160), party % 2 ? outbox : elsewhere));
      expect(taken.flat().sort()).toEqual(added.sort());
    });

    it('gives a single mail, and one whose lease is over, to one of many at once', async () => {
      const id = await waiting(at(0));
      for (let lease = 0; lease < 5; lease++) {
        const [now, until] = [at(lease * 60), at((lease + 1) * 60)];
        const taken = await atOnce(8, () => outbox.take(now, until));
        expect(taken.filter((mail) => mail !== null)).toEqual([expect.objectContaining({ id })]);
      }
    });
  });
}
