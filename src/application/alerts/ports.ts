import type { Alert, AlertStatus } from '../../domain/alerts/alert.js';
import type { AlertRule } from '../../domain/alerts/alert-rule.js';
import type { Delivery, Webhook } from '../../domain/alerts/webhook.js';
import type { Page } from '../shared/ports.js';

/** `repeated`: alerts that still fire are announced again every minute, because the receiver can forget them. */
export type AlertEvent = 'fired' | 'acknowledged' | 'repeated';

/** One message to one receiver. */
export interface Announcement {
  readonly event: AlertEvent;
  /** One of `receivers`. */
  readonly receiver: string;
  /** At least one alert, as it is stored now. So an alert that has fired may be acknowledged meanwhile. */
  readonly alerts: readonly Alert[];
}

export type DeliveryOutcome =
  | { readonly result: 'delivered' }
  /** The receiver has had the most messages that it may get within an hour. */
  | { readonly result: 'left_out' }
  /** Another attempt can help. `pauseMs` is the shortest pause that the receiver asks for. */
  | { readonly result: 'retry'; readonly reason: string; readonly pauseMs?: number }
  /** No other attempt can help. */
  | { readonly result: 'failed'; readonly reason: string };

/**
 * Announces alerts to people or programs by one technology. An adapter only delivers: `AlertAnnouncer` adds the tasks
 * in the transaction that stores the alerts, retries, gives up, counts and logs.
 */
export abstract class AlertNotifier {
  /** A unique name, for tasks, log lines and metrics: at most 30 small letters and underscores. */
  abstract readonly name: string;
  /** The events that the receivers want. */
  readonly events: readonly AlertEvent[] = ['fired'];
  /** If true, each alert is a delivery of its own. Otherwise, all alerts that fire together are one delivery. */
  readonly separately: boolean = false;
  /** The default ends a day and a half after the first attempt. */
  readonly retries = { attempts: 150, longestPauseMs: 15 * 60_000 };

  /**
   * Returns those who want alerts at this moment, each with a text that stays the same. A receiver that is no longer
   * among them gets nothing more. Runs in the transaction that stores the alerts, and before each delivery. Must use
   * only repositories. Default: one receiver, which always wants alerts.
   */
  async receivers(): Promise<readonly string[]> {
    return [this.name];
  }

  /**
   * Makes one attempt to deliver. An HTTP status of 200 to 299 means delivered. 408, 425, 429, a status from 500 on, or
   * no answer means `retry`, and every other status `failed`. Only webhooks are promised another attempt after every
   * status but 410. A reason contains no secret, such as the path of a URL. An error counts as `retry`. Throws when the
   * signal is aborted.
   */
  abstract deliver(announcement: Announcement, signal: AbortSignal): Promise<DeliveryOutcome>;
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

/** A message about alerts that counts against a limit of its receiver. */
export interface AlertMessage {
  readonly id: string;
  /** The id of an account, or a name that a notifier chooses. */
  readonly receiver: string;
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
  /** Stores a message for `countMessages`. Returns false and stores nothing if a message with this id is stored. */
  abstract addMessage(message: AlertMessage): Promise<boolean>;
  /** Counts the receiver's messages at or after `since`. */
  abstract countMessages(receiver: string, since: Date): Promise<number>;
  /** Removes at most `most` messages of the receiver. Returns the number of removed messages. */
  abstract removeMessages(receiver: string, most: number): Promise<number>;
}

/** One request to a webhook's receiver. */
export interface WebhookMessage {
  readonly url: string;
  /** Signs the body. */
  readonly secret: string;
  /** The same in every attempt. */
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
  /** Stores the newest delivery and drops the oldest beyond the limit. One with status 410 also disables the webhook. */
  abstract note(id: string, delivery: Delivery): Promise<void>;
  /** Returns false when there was no such webhook. */
  abstract remove(id: string): Promise<boolean>;
}
