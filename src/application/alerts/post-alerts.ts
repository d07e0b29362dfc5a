import { injectable } from 'inversify';
import { Logger, type TaskWorker, UnitOfWork, WorkQueue } from '../shared/ports.js';
import { DeliverWebhook } from './deliver-webhook.js';

/** Of alerts that fired at once, and the webhooks that were there: makes one task of each pair. */
export const SPREADING = 'spread alerts';
/** Posts one alert to one webhook. */
export const POSTING = 'post alert';

/** The pauses between them grow from seconds to six hours: the last attempt is a day and a half after the first. */
const ATTEMPTS = 15;
const AT_ONCE = 8;

type Spread = { readonly webhookIds: readonly string[]; readonly alertIds: readonly string[] };
type Post = { readonly webhookId: string; readonly alertId: string };

/** The tasks by which alerts get to webhooks. A receiver that fails holds up neither the others nor other alerts. */
@injectable()
export class PostAlerts {
  constructor(
    private readonly queue: WorkQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly deliver: DeliverWebhook,
    private readonly log: Logger,
  ) {}

  /** Before the queue starts. */
  register(): void {
    this.queue.register(SPREADING, this.spreading);
    this.queue.register(POSTING, this.posting);
  }

  private readonly spreading: TaskWorker = {
    atOnce: 1,
    run: async (payload) => {
      const { webhookIds, alertIds } = payload as Spread;
      const pairs = alertIds.flatMap((alertId) => webhookIds.map((webhookId): Post => ({ webhookId, alertId })));
      await this.unitOfWork.run(async () => {
        for (const pair of pairs) {
          const key = `${POSTING} ${pair.alertId} ${pair.webhookId}`;
          await this.queue.enqueue(POSTING, pair, { key, maxAttempts: ATTEMPTS });
        }
      });
    },
    gaveUp: async (payload, reason) => this.log.error('alerts given up', { ...(payload as Spread), reason }),
  };

  private readonly posting: TaskWorker = {
    atOnce: AT_ONCE,
    run: (payload, { signal }) => this.deliver.execute({ ...(payload as Post), signal }),
    gaveUp: async (payload, reason) => {
      const { webhookId, alertId } = payload as Post;
      this.log.error('alert given up', { webhook_id: webhookId, alert_id: alertId, reason });
    },
  };
}
