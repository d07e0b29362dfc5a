import { injectable } from 'inversify';
import { Clock, Logger } from '../shared/ports.js';
import { ExpiredData, type LeftoverKind, leftoverKinds } from './ports.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long each is kept after its time: a link that was used or came too late is told as such for a month. */
const KEPT_MS: Readonly<Record<LeftoverKind, number>> = {
  credentials: DAY_MS,
  mailed_tokens: 30 * DAY_MS,
  mails: 30 * DAY_MS,
  site_tokens: DAY_MS,
};

/** Short statements, so that nobody waits for one. */
const AT_ONCE = 500;

/** Done every hour or so, in each process. */
@injectable()
export class RemoveLeftovers {
  constructor(
    private readonly leftovers: ExpiredData,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Until nothing is left, or until `signal` is aborted. */
  async execute(signal?: AbortSignal): Promise<void> {
    const now = this.clock.now().getTime();
    for (const kind of leftoverKinds) {
      const before = new Date(now - KEPT_MS[kind]);
      let removed = 0;
      for (let some = AT_ONCE; some === AT_ONCE && !signal?.aborted; removed += some) {
        some = await this.leftovers.remove(kind, before, AT_ONCE);
      }
      if (removed > 0) this.log.info('leftovers removed', { kind, removed });
    }
  }
}
