import type { Alert, AlertStatus } from '../../domain/alerts/alert.js';
import type { AlertRule } from '../../domain/alerts/alert-rule.js';
import type { Delivery, Webhook } from '../../domain/alerts/webhook.js';

/** A way in which people or programs hear of alerts. Off for everybody who has not switched it on. */
export abstract class AlertNotifier {
  /**
   * Has everybody who has switched it on told of these alerts, which have fired at once. Called in the transaction that
   * raises them, with one at least: it touches repositories only, and nobody is told before they are stored, or at all
   * where they are not. What it leaves in the database, other processes or a next start deliver: at least once for each
   * alert, and more than once only after a failure.
   */
  abstract announce(alerts: readonly Alert[]): Promise<void>;
}

export abstract class AlertRuleRepository {
  abstract add(rule: AlertRule): Promise<void>;
  abstract find(id: string): Promise<AlertRule | null>;
  /** Newest first. */
  abstract all(): Promise<AlertRule[]>;
  /** Writes rules; one that is gone stays gone. */
  abstract save(rules: readonly AlertRule[]): Promise<void>;
  /** True when there was one. */
  abstract remove(id: string): Promise<boolean>;
}

export interface Acknowledgement {
  readonly at: Date;
  readonly by: string;
  readonly note: string | null;
}

export abstract class AlertRepository {
  /** Of a rule and a job there is one alert at most. */
  abstract add(alerts: readonly Alert[]): Promise<void>;
  abstract find(id: string): Promise<Alert | null>;
  /** Newest first, beginning after the id `after`; null: whatever their status. */
  abstract list(
    status: AlertStatus | null,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<Alert[]>;
  /** Notes the acknowledgement; false, and nothing changes, for an alert that has one already or is not there. */
  abstract acknowledge(id: string, acknowledgement: Acknowledgement): Promise<boolean>;
}

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
export abstract class WebhookSender {
  /** `whsec_` and 32 bytes in base64 that nobody can guess. */
  abstract newSecret(): string;
  /** Throws WebhookRefused where nothing may be posted to the URL, as its host resolves now. */
  abstract check(url: string): Promise<void>;
  /**
   * One attempt, over within 10 s; any status of 200 to 299 is a success. The address that is connected to is checked
   * again. Nothing else is ever contacted, whatever the answer says, and nothing of the answer's body is kept. Throws
   * only the signal's reason.
   */
  abstract post(message: WebhookMessage, signal?: AbortSignal): Promise<Pick<Delivery, 'status' | 'error'>>;
}

/** The webhooks there are. Whoever reads the storage finds neither their URLs nor their secrets in it. */
export abstract class WebhookRepository {
  /** `secret` signs all that is posted to it. */
  abstract add(webhook: Webhook, secret: string): Promise<void>;
  /** Oldest first. One that was stored under another secret of the service has an empty `url`. */
  abstract all(): Promise<Webhook[]>;
  /** With its secret. Throws where it was stored under another secret of the service. */
  abstract open(id: string): Promise<{ readonly webhook: Webhook; readonly secret: string } | null>;
  /** Keeps a delivery as the last one. One that says that the receiver is gone disables the webhook for good. */
  abstract note(id: string, delivery: Delivery): Promise<void>;
  /** True when there was one. */
  abstract remove(id: string): Promise<boolean>;
}

/** Translates a fired alert into the body that webhooks receive. */
export abstract class AlertEventFormat {
  /** Returns the same JSON object for the same alert. */
  abstract body(alert: Alert): object;
}
