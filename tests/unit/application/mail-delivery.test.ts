import { MailDelivery } from '../../../src/application/accounts/mail-delivery.js';
import type { Mailer } from '../../../src/application/accounts/ports.js';
import { MemoryMailOutbox } from '../../fakes/accounts/memory-mail-outbox.js';
import { MemoryStore } from '../../fakes/memory-store.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';

describe('MailDelivery', () => {
  const setUp = async () => {
    const outbox = new MemoryMailOutbox(new MemoryStore());
    const clock = new ManualClock();
    const sent: string[] = [];
    const server = { up: true };
    const mailer: Mailer = {
      async send(id) {
        if (!server.up) throw new Error('out of reach');
        sent.push(id);
        return 'smtp';
      },
    };
    const message = { to: { name: 'Ada', address: 'ada@example.com' }, subject: 's', text: 't', html: 'h' };
    for (const id of ['msg_1', 'msg_2']) await outbox.add({ id, message, dueAt: clock.now() });
    return { clock, sent, server, delivery: new MailDelivery(outbox, mailer, clock, new MemoryLogger()) };
  };

  it('sends all that is due, once', async () => {
    const { sent, delivery } = await setUp();
    await delivery.deliverDue();
    await delivery.deliverDue();
    expect(sent).toEqual(['msg_1', 'msg_2']);
  });

  it('loses nothing while the server is out of reach, and does not press it', async () => {
    const { clock, sent, server, delivery } = await setUp();
    server.up = false;
    await delivery.deliverDue();
    server.up = true;
    await delivery.deliverDue();
    expect(sent).toEqual([]);
    clock.advance(5_000);
    await delivery.deliverDue();
    expect(sent.sort()).toEqual(['msg_1', 'msg_2']);
  });
});
