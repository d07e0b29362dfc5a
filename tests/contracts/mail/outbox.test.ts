import { query } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aMessage, at, ids } from '../../support/records.js';
import { outboxContract } from './outbox.contract.js';

outboxContract('memory', memoryUnderTest());
outboxContract('PostgreSQL', postgresUnderTest());

describe('Outbox kept by PostgreSQL', () => {
  const store = postgresUnderTest();
  const token = 'tnv_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM';
  const link = `https://tenon.example/verify-email?token=${token}`;
  const message = aMessage({
    to: { name: 'Ada Lovelace', address: 'ada@example.com' },
    subject: 'A private matter',
    text: `Open ${link}`,
    html: `<a href="${link}">Open</a>`,
  });
  const dump = async () => {
    const rows = await query<{ outbox: string }>(store.url, 'SELECT outbox::text FROM outbox');
    return rows.map(({ outbox }) => outbox).join('\n');
  };

  it('shows neither address nor token of a waiting mail to whoever reads the database', async () => {
    const { outbox } = await store.open();
    const id = ids.next('msg');
    await outbox.add({ id, message, dueAt: at(0) });
    for (let state = 0; state < 2; state++) {
      const text = await dump();
      expect(text).toContain(id);
      const decoded = text.split(/[(),"]/).map((field) => Buffer.from(field, 'base64url').toString('latin1'));
      for (const secret of [token, 'ada@example.com', 'Lovelace', 'private matter', 'verify-email']) {
        expect(text).not.toContain(secret);
        expect(decoded.join('\n')).not.toContain(secret);
      }
      await outbox.take(at(0), at(60));
    }
  });

  it('keeps nothing of the content of a delivered mail', async () => {
    const { outbox } = await store.open();
    const [id, waiting] = [ids.next('msg'), ids.next('msg')];
    await outbox.add({ id, message, dueAt: at(0) });
    await outbox.add({ id: waiting, message, dueAt: at(1) });
    await outbox.take(at(0), at(60));
    await outbox.delivered(id, at(5));
    const rows = await query(
      store.url,
      'SELECT id, sealed IS NULL AS wiped, delivered_at FROM outbox ORDER BY due_at DESC',
    );
    expect(rows).toEqual([
      { id, wiped: true, delivered_at: at(5) },
      { id: waiting, wiped: false, delivered_at: null },
    ]);
  });

  it('does not wait for a mail that somebody else has in hand', async () => {
    const { outbox, unitOfWork } = await store.open();
    const [first, second] = [ids.next('msg'), ids.next('msg')];
    await outbox.add({ id: first, message, dueAt: at(0) });
    await outbox.add({ id: second, message, dueAt: at(1) });
    const elsewhere = (await store.elsewhere()).outbox;
    await unitOfWork.run(async () => {
      expect(await outbox.take(at(10), at(60))).toMatchObject({ id: first });
      expect(await elsewhere.take(at(10), at(60))).toMatchObject({ id: second });
      expect(await elsewhere.take(at(10), at(60))).toBeNull();
    });
  });
});
