import { freshDatabase, query, type TestDatabase } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { auditTrailContract } from './audit-trail.contract.js';

auditTrailContract('memory', memoryUnderTest());
auditTrailContract('PostgreSQL', postgresUnderTest());

describe("PostgreSQL's table of audit entries", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
    await query(
      database.url,
      `INSERT INTO audit_entries (id, created_at, actor_kind, action, object_id, details)
       VALUES ('aud_1', now(), 'command_line', 'database.migrated', 'tenon', '{}')`,
    );
  });
  afterAll(() => database.drop());

  it.each([
    "UPDATE audit_entries SET action = 'project.deleted'",
    "UPDATE audit_entries SET action = 'project.deleted' WHERE false",
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    "INSERT INTO audit_entries SELECT * FROM audit_entries ON CONFLICT (id) DO UPDATE SET object_name = 'other'",
  ])('refuses: %s', async (statement) => {
    await expect(query(database.url, statement)).rejects.toThrow('audit_entries is append-only');
    const kept = await query(database.url, 'SELECT id, action, object_name FROM audit_entries');
    expect(kept).toEqual([{ id: 'aud_1', action: 'database.migrated', object_name: null }]);
  });
});
