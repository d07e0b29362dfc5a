import { AlertAnnouncer, ANNOUNCEMENT } from '../../src/application/alerts/alert-announcer.js';
import {
  type AlertEvent,
  AlertNotifier,
  type Announcement,
  type DeliveryOutcome,
} from '../../src/application/alerts/ports.js';
import type { Alert } from '../../src/domain/alerts/alert.js';
import { NoTracer } from '../../src/infrastructure/system/adapters.js';
import { createDataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmInstanceRegistry } from '../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { GraphileWorkQueue } from '../../src/infrastructure/typeorm/queue/graphile-work-queue.js';
import { OutageLog } from '../../src/infrastructure/typeorm/storage-errors.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { freshDatabase, query, type TestDatabase } from './database.js';
import { eventually } from './eventually.js';
import { postgresRepositories } from './postgres-repositories.js';
import { RecordingLog } from './recording-log.js';

/** Makes the tasks due that were not attempted again, wakes the workers, and returns these tasks. */
const MAKE_DUE = `
  UPDATE graphile_worker._private_jobs job SET run_at = now() - interval '1 second'
    FROM json_to_recordset($1) AS before (id bigint, attempts integer)
   WHERE job.id = before.id AND job.attempts = before.attempts
  RETURNING pg_notify('jobs:insert', '{"count":1}')`;

/** A notifier whose receivers and outcomes a test scripts. */
export class ScriptedNotifier extends AlertNotifier {
  override events: readonly AlertEvent[] = ['fired'];
  override separately = false;
  override retries = { attempts: 3, longestPauseMs: 60_000 };
  wanting: string[] = ['r1'];
  readonly attempts: (Announcement & { readonly ids: string[] })[] = [];
  outcome: (announcement: Announcement, signal: AbortSignal) => DeliveryOutcome | Promise<DeliveryOutcome> = () => ({
    result: 'delivered',
  });

  constructor(readonly name = 'scripted') {
    super();
  }

  override receivers = async () => this.wanting;

  async deliver(announcement: Announcement, signal: AbortSignal): Promise<DeliveryOutcome> {
    this.attempts.push({ ...announcement, ids: announcement.alerts.map(({ id }) => id) });
    return this.outcome(announcement, signal);
  }
}

/** Opens announcers with the work queue on a database that exists during the surrounding tests. */
export function announcerRig() {
  let database: TestDatabase;
  const closes: (() => Promise<void>)[] = [];
  const rig = {
    get url() {
      return database.url;
    },
    /** Starts an instance with these notifiers. */
    async instance(notifiers: readonly AlertNotifier[]) {
      const source = await createDataSource(database.url, 6).initialize();
      const [log, registry] = [new RecordingLog(), new TypeOrmInstanceRegistry(source)];
      const repositories = postgresRepositories(new TypeOrmUnitOfWork(source));
      const unitOfWork = repositories.unitOfWork as TypeOrmUnitOfWork;
      const queue = new GraphileWorkQueue(source, unitOfWork, registry, log, new OutageLog(log), new NoTracer());
      const announcer = new AlertAnnouncer(notifiers, queue, unitOfWork, repositories.alerts, log);
      queue.register(ANNOUNCEMENT, announcer);
      await queue.start();
      let stopped: Promise<void> | undefined;
      const close = async () => {
        await queue.stop(2_000);
        await registry.leave();
        await source.destroy();
      };
      const stop = () => {
        stopped ??= close();
        return stopped;
      };
      closes.push(stop);
      const fire = (...alerts: Alert[]) =>
        unitOfWork.run(async () => {
          await repositories.alerts.add(alerts);
          await announcer.fired(alerts);
        });
      return { ...repositories, announcer, log, fire, stop };
    },
    /** Returns the seconds until each waiting task runs. Those of a running task are 0 or less. */
    async waiting(): Promise<number[]> {
      const due = 'SELECT extract(epoch FROM run_at - now())::float AS pause FROM graphile_worker._private_jobs';
      return (await query<{ pause: number }>(database.url, due)).map(({ pause }) => pause);
    },
    /** Waits until no task is due. Returns the seconds until each waiting task runs. */
    async settled(): Promise<number[]> {
      let pauses: number[] = [];
      await eventually(async () => {
        pauses = await rig.waiting();
        return pauses.every((pause) => pause > 0.5);
      });
      return pauses;
    },
    /** Makes all waiting tasks due, and waits until they have run. Returns the seconds that it has skipped. */
    async skip(): Promise<number> {
      const skipped = Math.max(0, ...(await rig.settled()));
      const before = await query(database.url, 'SELECT id, attempts FROM graphile_worker._private_jobs');
      // The queue may still store the pause after the last attempt, so one change may not be enough.
      await eventually(async () => (await query(database.url, MAKE_DUE, [JSON.stringify(before)])).length === 0);
      await rig.settled();
      return skipped;
    },
  };
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterEach(async () => {
    await Promise.all(closes.splice(0).map((stop) => stop()));
    await query(database.url, 'DELETE FROM graphile_worker._private_jobs');
    await query(database.url, 'DELETE FROM webhooks');
  });
  afterAll(() => database.drop());
  return rig;
}
