import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { atLeisure } from '../../../src/infrastructure/typeorm/backup/at-leisure.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

describe('a COPY at leisure', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase({ migrated: false });
  });
  afterAll(() => database.drop());

  it('takes longer than the URL lets an answer take', async () => {
    const url = new URL(database.url);
    url.searchParams.set('query_timeout', '100');
    const client = new Client({ connectionString: url.href });
    await client.connect();
    try {
      const text: string[] = [];
      const rows = client.query(atLeisure(copyTo("COPY (SELECT 'all', pg_sleep(0.5)) TO STDOUT")));
      for await (const chunk of rows) text.push(String(chunk));
      expect(text.join('')).toBe('all\t\n');
    } finally {
      await client.end();
    }
  });
});
