import { injectable, multiInject } from 'inversify';
import type { Alert } from '../../domain/alerts/alert.js';
import type { Json } from '../../domain/workspace/json.js';
import { type Attempt, Logger, type TaskWorker, UnitOfWork, WorkQueue } from '../shared/ports.js';
import { backOffMs, RetryAfter } from '../shared/retry-after.js';
import { type AlertEvent, AlertNotifier, AlertRepository, type DeliveryOutcome } from './ports.js';

/** Names the task that announces alerts. */
export const ANNOUNCEMENT = 'announce alerts';

/** The most alerts in one repeated announcement. Older alerts that still fire are not repeated. */
const MOST_REPEATED = 1_000;

/** A task with several deliveries only adds one task for each of them. */
type Task = {
  readonly notifier: string;
  readonly event: AlertEvent;
  readonly receivers: readonly string[];
  /** Empty for a repetition, which announces all alerts that fire. */
  readonly alertIds: readonly string[];
};

/** The deliveries of one notifier that had this result. `retry`: the attempt failed, but another one could help. */
export interface DeliveryCount {
  readonly notifier: string;
  readonly result: DeliveryOutcome['result'];
  count: number;
}

/**
 * Announces alerts by all notifiers, as tasks of the work queue. Every receiver has retries of its own. Deliveries to
 * one receiver run one after another, on all instances. So a receiver that hangs delays no other receiver.
 */
@injectable()
export class AlertAnnouncer implements TaskWorker {
  readonly atOnce = 8;
  /** Limits one delivery. */
  protected readonly deliveryMs: number = 15_000;
  /** The deliveries of this instance since its start. */
  readonly counts: DeliveryCount[] = [];

  constructor(
    @multiInject(AlertNotifier) private readonly notifiers: readonly AlertNotifier[],
    private readonly queue: WorkQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly alerts: AlertRepository,
    private readonly log: Logger,
  ) {}

  /**
   * Announces alerts to everybody who wants alerts at this moment. Must run in the transaction that stores the alerts,
   * so that no alert is lost, and a rollback announces nothing.
   */
  fired(alerts: readonly Alert[]): Promise<void> {
    return this.add('fired', alerts);
  }

  /** Announces that an alert was acknowledged. Must run in the transaction that stores the acknowledgement. */
  acknowledged(alert: Alert): Promise<void> {
    return this.add('acknowledged', [alert]);
  }

  /** Announces the alerts that still fire to receivers that can forget them. Must be called every minute. */
  repeat(): Promise<void> {
    return this.add('repeated', []);
  }

  private async add(event: AlertEvent, alerts: readonly Alert[]): Promise<void> {
    const alertIds = alerts.map(({ id }) => id);
    for (const notifier of this.notifiers) {
      if (!notifier.events.includes(event)) continue;
      const receivers = await notifier.receivers();
      if (receivers.length > 0) await this.enqueue(notifier, { notifier: notifier.name, event, receivers, alertIds });
    }
  }

  private async enqueue(notifier: AlertNotifier, task: Task): Promise<void> {
    const [receiver] = task.receivers;
    const isOne = partsOf(notifier, task).length === 1;
    await this.queue.enqueue(ANNOUNCEMENT, task, {
      key: `${isOne ? 'one' : 'many'} ${task.notifier} ${task.event} ${receiver} ${task.alertIds[0]}`,
      // The next minute repeats the alerts anyway.
      maxAttempts: task.event === 'repeated' ? 1 : notifier.retries.attempts,
      ...(isOne && { queueName: `${task.notifier} ${receiver}` }),
    });
  }

  async run(payload: Json, attempt: Attempt): Promise<void> {
    const task = payload as Task;
    const notifier = this.notifiers.find(({ name }) => name === task.notifier);
    if (!notifier) return; // it is switched off
    const parts = partsOf(notifier, task);
    try {
      if (parts.length === 1) return await this.deliver(notifier, task, attempt);
      await this.unitOfWork.run(async () => {
        for (const part of parts) await this.enqueue(notifier, part);
      });
    } catch (error) {
      if (error instanceof RetryAfter) throw error;
      throw new RetryAfter(messageOf(error), backOffMs(attempt.number, notifier.retries.longestPauseMs));
    }
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    const task = payload as Task;
    this.count(task.notifier, 'failed');
    this.log.error('alerts given up', { ...fieldsOf(task, await this.current(task).catch(() => [])), reason });
  }

  private async deliver(notifier: AlertNotifier, task: Task, { number, signal }: Attempt): Promise<void> {
    const { event, receivers } = task;
    const receiver = receivers[0] as string;
    if (!(await notifier.receivers()).includes(receiver)) return;
    const alerts = await this.current(task);
    if (alerts.length === 0) return;
    const within = AbortSignal.any([signal, AbortSignal.timeout(this.deliveryMs)]);
    const outcome = await notifier.deliver({ event, receiver, alerts }, within).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return retry(messageOf(error));
    });
    if (outcome.result === 'failed') return this.gaveUp(task, outcome.reason);
    this.count(notifier.name, outcome.result);
    const fields = fieldsOf(task, alerts);
    if (outcome.result === 'retry') {
      const { reason } = outcome;
      if (event === 'repeated') return this.log.warn('alerts not repeated', { ...fields, reason });
      this.log.warn('alerts not announced', { ...fields, attempt: number, reason });
      const pauseMs = Math.max(outcome.pauseMs ?? 0, backOffMs(number, notifier.retries.longestPauseMs));
      throw new RetryAfter(`${notifier.name}: ${outcome.reason}`, pauseMs);
    }
    if (event === 'repeated') return;
    this.log.info(outcome.result === 'left_out' ? 'alerts left out' : 'alerts announced', fields);
  }

  private async current({ event, alertIds }: Task): Promise<Alert[]> {
    if (event === 'repeated') return this.alerts.list('firing', { limit: MOST_REPEATED, after: null });
    return (await Promise.all(alertIds.map((id) => this.alerts.find(id)))).filter((alert) => alert !== null);
  }

  private count(notifier: string, result: DeliveryCount['result']): void {
    const known = this.counts.find((one) => one.notifier === notifier && one.result === result);
    if (known) known.count++;
    else this.counts.push({ notifier, result, count: 1 });
  }
}

/** The alerts of one task have fired by the same job. */
const fieldsOf = ({ notifier, event, receivers, alertIds }: Task, [first]: readonly Alert[]) => ({
  notifier,
  event,
  receivers,
  alert_ids: alertIds,
  ...(first && event !== 'repeated' && { job_id: first.jobId }),
});

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const retry = (reason: string): DeliveryOutcome => ({ result: 'retry', reason });

/** Returns one task for each receiver, or for each receiver and alert. */
function partsOf({ separately }: AlertNotifier, task: Task): Task[] {
  const batches = separately && task.event !== 'repeated' ? task.alertIds.map((id) => [id]) : [task.alertIds];
  return batches.flatMap((alertIds) =>
    task.receivers.map((receiver) => ({ ...task, receivers: [receiver], alertIds })),
  );
}
