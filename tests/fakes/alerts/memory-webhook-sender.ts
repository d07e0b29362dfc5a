import type { WebhookMessage, WebhookSender } from '../../../src/application/alerts/ports.js';
import type { Delivery } from '../../../src/domain/alerts/webhook.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';

/** Collects the posted messages, and answers with `status`. */
export class MemoryWebhookSender implements WebhookSender {
  readonly posted: WebhookMessage[] = [];
  /** The status of each answer. Null: there is no answer. */
  status: number | null = 200;
  /** The hosts that are not permitted. */
  readonly refused = new Set<string>();
  private secrets = 0;

  newSecret(): string {
    return `whsec_${Buffer.from(String(++this.secrets).padStart(32, '0')).toString('base64')}`;
  }

  async check(url: string): Promise<void> {
    if (this.refused.has(new URL(url).hostname)) throw new InvalidRequest([{ path: 'url', message: 'is refused' }]);
  }

  async post(message: WebhookMessage, signal?: AbortSignal): Promise<Pick<Delivery, 'status' | 'error'>> {
    signal?.throwIfAborted();
    if (this.refused.has(new URL(message.url).hostname)) return { status: null, error: 'is refused' };
    this.posted.push(message);
    const { status } = this;
    const done = status !== null && status >= 200 && status < 300;
    return { status, error: done ? null : 'not delivered' };
  }
}
