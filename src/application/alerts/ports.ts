import type { Alert, AlertStatus } from '../../domain/alerts/alert.js';
import type { AlertRule } from '../../domain/alerts/alert-rule.js';
import type { Delivery, Webhook } from '../../domain/alerts/webhook.js';
import type { Page } from '../shared/ports.js';

/** Announces alerts to people or programs. A notifier does nothing until an account or an operator switches it on. */
export abstract class AlertNotifier {
  /**
   * Announces at least one alert. The caller runs it in the transaction that stores the alerts, so it touches
   * repositories and the work queue only, and a rollback announces nothing. Each alert is delivered at least once, also
   * after a restart; it is delivered twice only after a failure.
   */
  abstract announce(alerts: readonly Alert[]): Promise<void>;

  /**
   * Tells of an acknowledged alert, with the promises of `announce`: the caller runs it in the transaction that stores the
   * acknowledgement. Does nothing unless an adapter overrides it.
   */
  async acknowledged(_alert: Alert): Promise<void> {}

  /** Tells once more of alerts that still fire. Called every minute. Does nothing unless an adapter overrides it. */
  async repeat(): Promise<void> {}
}

export abstract class AlertRuleRepository {
  abstract add(rule: AlertRule): Promise<void>;
  abstract find(id: string): Promise<AlertRule | null>;
  /** Returns all rules, newest first. */
  abstract all(): Promise<AlertRule[]>;
  /** Writes the rules. A deleted rule stays deleted. */
  abstract save(rules: readonly AlertRule[]): Promise<void>;
  /** Returns false when there was no such rule. */
  abstract remove(id: string): Promise<boolean>;
}

/** An e-mail about alerts to an account. */
export interface AlertMail {
  readonly id: string;
  readonly accountId: string;
  readonly sentAt: Date;
}

export interface Acknowledgement {
  readonly at: Date;
  /** The id of an account, or `MASTER`. */
  readonly by: string;
  readonly note: string | null;
}

export abstract class AlertRepository {
  /** Adds alerts. Skips an alert when its rule and job have one already. */
  abstract add(alerts: readonly Alert[]): Promise<void>;
  abstract find(id: string): Promise<Alert | null>;
  /** Returns the alerts with ids below `after`, newest first. A null status means every status. */
  abstract list(status: AlertStatus | null, page: Page): Promise<Alert[]>;
  /** Stores the acknowledgement. Returns false, and changes nothing, when the alert has one or does not exist. */
  abstract acknowledge(id: string, acknowledgement: Acknowledgement): Promise<boolean>;
  /** Remembers a mail for an hour, so that mails flood no mailbox. */
  abstract addMail(mail: AlertMail): Promise<void>;
  /** Counts the account's mails about alerts at or after `since`. */
  abstract countMails(accountId: string, since: Date): Promise<number>;
}

/** One request to a webhook's receiver. */
export interface WebhookMessage {
  readonly url: string;
  /** Signs the body. */
  readonly secret: string;
  /** Stays the same for every attempt. */
  readonly id: string;
  readonly body: string;
  readonly sentAt: Date;
}

/** Posts messages as the Standard Webhooks specification defines, to permitted addresses only. */
export abstract class WebhookSender {
  /** Returns `whsec_` and 32 random bytes in base64. */
  abstract newSecret(): string;
  /** Throws InvalidRequest when the URL's host, as it resolves now, is not a permitted address. */
  abstract check(url: string): Promise<void>;
  /**
   * Makes one attempt, which ends within 10 s. A status of 200 to 299 is a success. Checks the connected address again,
   * follows no redirect and discards the answer's body. Throws only the signal's reason.
   */
  abstract post(message: WebhookMessage, signal?: AbortSignal): Promise<Pick<Delivery, 'status' | 'error'>>;
}

/** Stores webhooks. The stored form reveals neither URLs nor secrets. */
export abstract class WebhookRepository {
  abstract add(webhook: Webhook, secret: string): Promise<void>;
  /** Returns all webhooks, oldest first. One that was sealed with another service secret has an empty `url`. */
  abstract all(): Promise<Webhook[]>;
  /** Returns a webhook with its secret. Throws when it was sealed with another service secret. */
  abstract open(id: string): Promise<{ readonly webhook: Webhook; readonly secret: string } | null>;
  /** Stores the last delivery. A delivery with status 410 also disables the webhook for good. */
  abstract note(id: string, delivery: Delivery): Promise<void>;
  /** Returns false when there was no such webhook. */
  abstract remove(id: string): Promise<boolean>;
}
