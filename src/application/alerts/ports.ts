import type { Alert, AlertStatus } from '../../domain/alerts/alert.js';
import type { AlertRule } from '../../domain/alerts/alert-rule.js';
import type { Delivery, Webhook } from '../../domain/alerts/webhook.js';
import type { Page } from '../shared/ports.js';

/** Announces alerts to people or programs. A notifier does nothing until an account or an operator switches it on. */
export abstract class AlertNotifier {
  /**
   * Announces one or more alerts. Runs in the transaction that stores the alerts, so that a rollback announces nothing.
   * An adapter must use only repositories and the work queue. Delivers each alert at least once, also after a restart.
   * Delivers an alert twice only after a failure.
   */
  abstract announce(alerts: readonly Alert[]): Promise<void>;

  /**
   * Announces that an alert was acknowledged. Runs in the transaction that stores the acknowledgement. Promises the
   * same as `announce`. Does nothing unless an adapter overrides it.
   */
  async acknowledged(_alert: Alert): Promise<void> {}

  /** Announces the alerts that still fire. Is called every minute. Does nothing unless an adapter overrides it. */
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

/** An e-mail that tells an account about alerts. */
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
  /** Adds alerts. Skips an alert if an alert with the same rule and job is stored. */
  abstract add(alerts: readonly Alert[]): Promise<void>;
  abstract find(id: string): Promise<Alert | null>;
  /** Returns the alerts with ids below `after`, newest first. A null status means every status. */
  abstract list(status: AlertStatus | null, page: Page): Promise<Alert[]>;
  /** Stores the acknowledgement. Returns false and changes nothing if the alert is acknowledged or does not exist. */
  abstract acknowledge(id: string, acknowledgement: Acknowledgement): Promise<boolean>;
  /** Stores a mail, so that `countMails` counts it. */
  abstract addMail(mail: AlertMail): Promise<void>;
  /** Counts the account's mails about alerts at or after `since`. */
  abstract countMails(accountId: string, since: Date): Promise<number>;
}

/** One request to a webhook's receiver. */
export interface WebhookMessage {
  readonly url: string;
  /** Signs the body. */
  readonly secret: string;
  /** Is the same in every attempt. */
  readonly id: string;
  readonly body: string;
  readonly sentAt: Date;
}

/** Posts messages as the Standard Webhooks specification defines, to permitted addresses only. */
export abstract class WebhookSender {
  /** Returns `whsec_` and 32 random bytes in base64. */
  abstract newSecret(): string;
  /** Throws InvalidRequest if the URL's host now resolves to an address that is not permitted. */
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
  /** Returns all webhooks, oldest first. A webhook that was sealed with another service secret has an empty `url`. */
  abstract all(): Promise<Webhook[]>;
  /** Returns a webhook with its secret, or null. Throws if the webhook was sealed with another service secret. */
  abstract open(id: string): Promise<{ readonly webhook: Webhook; readonly secret: string } | null>;
  /** Stores the last delivery. A delivery with status 410 also disables the webhook. */
  abstract note(id: string, delivery: Delivery): Promise<void>;
  /** Returns false when there was no such webhook. */
  abstract remove(id: string): Promise<boolean>;
}
