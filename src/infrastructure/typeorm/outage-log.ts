import { injectable } from 'inversify';
import { Logger } from '../../application/shared/ports.js';
import { steadyMs } from '../system/scheduling.js';
import { asStorageUnavailable } from './storage-errors.js';

const REMINDER_MS = 60_000;

/**
 * Logs failures of periodic work. All of it fails during an outage of the database, so an outage is logged once when it
 * begins, once a minute, and when it ends.
 */
@injectable()
export class OutageLog {
  private outage: { readonly since: number; told: number } | null = null;

  constructor(private readonly log: Logger) {}

  failed(what: string, error: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    if (asStorageUnavailable(error) === error) {
      this.log.error(what, { ...fields, error });
      return;
    }
    const now = steadyMs();
    if (!this.outage) {
      this.outage = { since: now, told: now };
      this.log.error('the database is out of reach', { noticed_by: what, error });
    } else if (now - this.outage.told >= REMINDER_MS) {
      this.outage.told = now;
      this.log.warn('the database is still out of reach', { for_s: this.seconds(now) });
    }
  }

  /** Reports that work on the database succeeded. */
  done(): void {
    if (!this.outage) return;
    this.log.info('the database is back', { after_s: this.seconds(steadyMs()) });
    this.outage = null;
  }

  private seconds(now: number): number {
    return Math.round((now - (this.outage?.since ?? now)) / 100) / 10;
  }
}
