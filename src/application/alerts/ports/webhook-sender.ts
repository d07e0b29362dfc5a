import type { Delivery } from '../../../domain/alerts/webhook.js';
import { port } from '../../shared/port.js';

/** What is posted to a webhook. */
export interface WebhookMessage {
  readonly url: string;
  readonly secret: string;
  /** The same for each attempt. */
  readonly id: string;
  readonly body: string;
  readonly sentAt: Date;
}

/** Posts as the Standard Webhooks specification has it, to addresses where it may. */
export interface WebhookSender {
  /** `whsec_` and 32 bytes in base64 that nobody can guess. */
  newSecret(): string;
  /** Throws WebhookRefused where nothing may be posted to the URL, as its host resolves now. */
  check(url: string): Promise<void>;
  /**
   * One attempt, over within 10 s; any status of 200 to 299 is a success. The address that is connected to is checked
   * again. Nothing else is ever contacted, whatever the answer says, and nothing of the answer's body is kept. Throws
   * only the signal's reason.
   */
  post(message: WebhookMessage, signal?: AbortSignal): Promise<Pick<Delivery, 'status' | 'error'>>;
}
export const WebhookSender = port<WebhookSender>('alerts.WebhookSender');
