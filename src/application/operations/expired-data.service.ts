import { injectable } from 'inversify';
import { USAGE_KEPT_MS } from '../../domain/jobs/usage.js';
import { Clock, Logger, ServiceSettings } from '../shared/ports.js';
import { type ExpirableKind, ExpiredData, expirableKinds } from './ports.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Milliseconds that a row is kept after its end. */
const KEPT_MS: Readonly<Record<Exclude<ExpirableKind, 'responses'>, number>> = {
  alert_messages: DAY_MS,
  credentials: DAY_MS,
  unused_keys: 30 * DAY_MS,
  mailed_tokens: 30 * DAY_MS, // so that an old link gets TokenUsed or TokenExpired, not TokenNotFound
  site_tokens: DAY_MS,
  rate_limits: 0,
  usage_minutes: USAGE_KEPT_MS.minute,
  usage_hours: USAGE_KEPT_MS.hour,
};

/** Limits the rows of one statement. */
const AT_ONCE = 500;

@injectable()
export class ExpiredDataService {
  constructor(
    private readonly expired: ExpiredData,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly settings: ServiceSettings,
  ) {}

  /** Removes expired rows in small batches until none is left or `signal` is aborted. */
  async remove(signal?: AbortSignal): Promise<void> {
    const now = this.clock.now().getTime();
    for (const kind of expirableKinds) {
      const before = new Date(now - (kind === 'responses' ? this.settings.responseKeptMs : KEPT_MS[kind]));
      let removed = 0;
      let count = AT_ONCE;
      while (count === AT_ONCE && !signal?.aborted) {
        count = await this.expired.remove(kind, before, AT_ONCE);
        removed += count;
      }
      if (removed > 0) this.logger.info('expired data removed', { kind, removed });
    }
  }
}
