import { Sealer } from '../../../src/infrastructure/crypto/sealer.js';
import { TypeOrmWebhooks } from '../../../src/infrastructure/typeorm/alerts/typeorm-webhooks.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { query } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aWebhook } from '../../support/records.js';
import { webhooksContract } from './webhooks.contract.js';

webhooksContract('memory', memoryUnderTest());
webhooksContract('PostgreSQL', postgresUnderTest());

describe('Webhooks kept by PostgreSQL', () => {
  const store = postgresUnderTest();

  it('show neither URL nor secret to whoever reads the database', async () => {
    const { webhooks } = await store.open();
    const webhook = aWebhook({ url: 'https://hooks.example.com/in?key=private' });
    await webhooks.add(webhook, 'whsec_c2VjcmV0');
    const [row] = await query<{ webhook: string }>(store.url, 'SELECT webhooks::text AS webhook FROM webhooks');
    const fields = row?.webhook.split(/[(),"]/) ?? [];
    const readable = [
      row?.webhook,
      ...fields.map((field) => Buffer.from(field, 'base64url').toString('latin1')),
    ].join();
    expect(readable).toContain(webhook.id);
    for (const secret of ['hooks.example.com', 'private', 'c2VjcmV0', 'secret']) expect(readable).not.toContain(secret);
  });

  it('that were sealed with another secret can be seen and removed, and are no address', async () => {
    const { webhooks } = await store.open();
    const webhook = aWebhook();
    await webhooks.add(webhook, 'whsec_1');
    const other = new TypeOrmWebhooks(new TypeOrmUnitOfWork(store.source), new Sealer('another secret', 'webhooks'));
    expect(await other.all()).toEqual([{ ...webhook, url: '' }]);
    await expect(other.open(webhook.id)).rejects.toThrow('SERVICE_SECRET');
    expect(await other.remove(webhook.id)).toBe(true);
  });
});
