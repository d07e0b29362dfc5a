import { WebhookDelivery } from '../../src/application/alerts/webhook-delivery.js';
import { WebhookNotifier } from '../../src/infrastructure/notifiers/alert-notifiers.js';
import { alertFired } from '../../src/interfaces/http/alerts/webhooks.controller.js';
import { MemoryWebhookSender } from '../fakes/alerts/memory-webhook-sender.js';
import { MemoryInstanceRegistry } from '../fakes/jobs/memory-instance-registry.js';
import { MemoryStore } from '../fakes/memory-store.js';
import { MemoryTable } from '../fakes/memory-table.js';
import { ManualClock } from '../fakes/shared/manual-clock.js';
import { MemoryWorkQueue } from '../fakes/shared/memory-work-queue.js';
import { eventually } from './eventually.js';
import { memoryRepositories } from './memory-repositories.js';
import { RecordingLog } from './recording-log.js';
import { at } from './records.js';

/** Creates the delivery of alerts to webhooks, all in memory. */
export async function webhookRig() {
  const store = new MemoryStore();
  const { webhooks, alerts } = memoryRepositories(store);
  const [clock, log, sender] = [new ManualClock(at(0)), new RecordingLog(), new MemoryWebhookSender()];
  const queue = new MemoryWorkQueue(store, new MemoryInstanceRegistry(), clock);
  new WebhookDelivery(queue, store, webhooks, alerts, sender, clock, log).register(alertFired);
  await queue.start();
  const tasks = new MemoryTable<{ readonly runAt: number }>(store, 'tasks');
  return {
    store,
    webhooks,
    alerts,
    sender,
    clock,
    log,
    notifier: new WebhookNotifier(webhooks, queue),
    /** Waits until no task is due. Returns the number of waiting tasks. */
    async settled(): Promise<number> {
      await eventually(() => tasks.all().every(({ runAt }) => runAt > clock.now().getTime()));
      return tasks.all().length;
    },
    stop: () => queue.stop(0),
  };
}
