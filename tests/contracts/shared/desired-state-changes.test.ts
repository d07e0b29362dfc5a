import type { DesiredStateChanges } from '../../../src/application/shared/ports.js';
import { PostgresDesiredStateChanges } from '../../../src/infrastructure/typeorm/desired-state-changes.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { query } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import { aDeployment } from '../../support/records.js';
import { desiredStateChangesContract } from './desired-state-changes.contract.js';

const postgres = postgresUnderTest();

const instance = (): DesiredStateChanges =>
  new PostgresDesiredStateChanges(postgres.source, new OutageLog(new RecordingLog()));

desiredStateChangesContract('PostgreSQL', async () => ({ repositories: await postgres.open(), instance }));

describe('the connection for notifications', () => {
  it('is replaced when it breaks, and listeners are called because they may have missed changes', async () => {
    const { deployments } = await postgres.open();
    let heard = 0;
    const changes = instance();
    changes.listen(() => heard++);
    await eventually(() => heard === 1);
    const listeners = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN%'
      AND pid <> pg_backend_pid()`;
    await query(postgres.url, `SELECT pg_terminate_backend(pid, 5000) FROM (${listeners}) listener`);
    await eventually(() => heard > 1);
    heard = 0;
    await deployments.add(aDeployment());
    await eventually(() => heard > 0);
    await changes.stop();
  });
});
