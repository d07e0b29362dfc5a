import { type Figure, gauge, type Source } from './figures.js';

/** What waits in the database, for this process and the others. */
export interface Backlog {
  readonly mails: number;
  /** Of these, those whose delivery has failed before. */
  readonly failedMails: number;
  /** Since when the oldest of them has been waiting; 0 where there is none. */
  readonly oldestMailSeconds: number;
  readonly waitingTasks: number;
  readonly runningTasks: number;
  /** Of those that wait, the ones whose last attempt failed. */
  readonly failedTasks: number;
}

const isUp = (value: 0 | 1): Figure =>
  gauge('tenon_database_up', 'Whether the database answered when these figures were taken: 1 or 0.', value);

/** Each process tells the same. Where the database does not answer, only that is told. */
export const backlogFigures = (read: () => Promise<Backlog>): Source => ({
  ask: async () => {
    const { mails, failedMails, oldestMailSeconds, waitingTasks, runningTasks, failedTasks } = await read();
    return [
      isUp(1),
      gauge('tenon_outbox_mails', 'E-mails that are not delivered yet.', mails),
      gauge('tenon_outbox_failed_mails', 'Those of them whose delivery has failed and is tried again.', failedMails),
      gauge(
        'tenon_outbox_oldest_mail_age_seconds',
        'Age of the oldest e-mail that is not delivered yet; 0 where there is none.',
        oldestMailSeconds,
      ),
      gauge('tenon_queue_waiting_tasks', 'Tasks of the work queue that nobody runs.', waitingTasks),
      gauge('tenon_queue_running_tasks', 'Tasks of the work queue that are being run.', runningTasks),
      gauge('tenon_queue_failed_tasks', 'Those that wait since an attempt at them failed.', failedTasks),
    ];
  },
  otherwise: [isUp(0)],
});

/** The connections of this process. */
export interface PoolLoad {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export const poolFigures = (load: () => PoolLoad): Source => ({
  ask: () => {
    const { total, idle, waiting } = load();
    return [
      gauge('tenon_database_pool_connections', 'Connections of this process to the database.', total),
      gauge('tenon_database_pool_idle_connections', 'Those of them that nobody uses.', idle),
      gauge('tenon_database_pool_waiting_requests', 'Work of this process that waits for a connection.', waiting),
    ];
  },
});
