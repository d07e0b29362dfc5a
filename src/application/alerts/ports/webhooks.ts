import type { Delivery, Webhook } from '../../../domain/alerts/webhook.js';
import { port } from '../../shared/port.js';

/** The webhooks there are. Whoever reads the storage finds neither their URLs nor their secrets in it. */
export interface Webhooks {
  /** `secret` signs all that is posted to it. */
  add(webhook: Webhook, secret: string): Promise<void>;
  /** Oldest first. One that was stored under another secret of the service has an empty `url`. */
  all(): Promise<Webhook[]>;
  /** With its secret. Throws where it was stored under another secret of the service. */
  open(id: string): Promise<{ readonly webhook: Webhook; readonly secret: string } | null>;
  /** Keeps a delivery as the last one. One that says that the receiver is gone disables the webhook for good. */
  note(id: string, delivery: Delivery): Promise<void>;
  /** True when there was one. */
  remove(id: string): Promise<boolean>;
}
export const Webhooks = port<Webhooks>('alerts.Webhooks');
