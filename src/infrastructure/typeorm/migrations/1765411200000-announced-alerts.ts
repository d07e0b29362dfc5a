import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Each kind of notifier had tasks of its own. */
const EARLIER = `
  SELECT job.id, job.run_at, task.identifier AS task, job.payload -> 'payload' AS payload
    FROM graphile_worker._private_jobs job JOIN graphile_worker._private_tasks task ON task.id = job.task_id
   WHERE task.identifier IN ('spread alerts', 'post alert', 'post to alertmanager', 'post to slack')`;

const ADD = `
  SELECT graphile_worker.add_job('announce alerts', run_at => $2, queue_name => $4, max_attempts => 32767,
           payload => json_build_object('payload', $1::json, 'maxAttempts', $3::integer))`;

interface EarlierTask {
  readonly id: string;
  readonly run_at: Date;
  readonly task: string;
  readonly payload: {
    readonly webhookId?: string;
    readonly webhookIds?: readonly string[];
    readonly alertId?: string;
    readonly alertIds?: readonly string[] | null;
    readonly acknowledged?: boolean;
  };
}

/** Turns waiting announcements of alerts into the tasks of `AlertAnnouncer`. */
export class AnnouncedAlerts1765411200000 extends ForwardMigration {
  readonly name = 'AnnouncedAlerts1765411200000';

  async up(runner: QueryRunner): Promise<void> {
    const tasks: EarlierTask[] = await runner.query(EARLIER);
    for (const { id, run_at, task, payload } of tasks) {
      const { webhookId, webhookIds, alertId, alertIds, acknowledged } = payload;
      const notifier = { 'post to alertmanager': 'alertmanager', 'post to slack': 'slack' }[task] ?? 'webhook';
      const next = {
        notifier,
        event: acknowledged ? 'acknowledged' : 'fired',
        receivers: webhookIds ?? [webhookId ?? notifier],
        alertIds: alertIds ?? (alertId ? [alertId] : []),
      };
      const attempts = { alertmanager: 60, slack: 150 }[notifier] ?? 15;
      const queueName = next.receivers.length === 1 ? `${notifier} ${next.receivers[0]}` : null;
      // Without alerts, the task repeated those that still fire. The next minute repeats them.
      if (next.alertIds.length > 0) await runner.query(ADD, [JSON.stringify(next), run_at, attempts, queueName]);
      await runner.query('DELETE FROM graphile_worker._private_jobs WHERE id = $1', [id]);
    }
  }
}
