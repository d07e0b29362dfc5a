import type { Container } from 'inversify';
import { RateLimitStore } from '../application/operations/ports.js';
import { IdGenerator, Logger } from '../application/shared/ports.js';
import { keyedDigest } from '../infrastructure/crypto/secrets.js';
import { LeasedRateLimitStore } from '../infrastructure/rate-limit/leased-rate-limit-store.js';
import { MemoryRateLimitStore } from '../infrastructure/rate-limit/memory-rate-limit-store.js';
import { DataSource } from '../infrastructure/typeorm/data-source.js';
import { ledgerPatienceMs, PostgresRateLimitLedger } from '../infrastructure/typeorm/operations/rate-limits.js';
import { TypeOrmUnitOfWork } from '../infrastructure/typeorm/typeorm-unit-of-work.js';
import type { Background } from './background.js';
import type { Config } from './config/config.js';

/** Binds the store that counts the calls of this instance or, if the settings want it, of all. */
export function bindRateLimits(container: Container, { rateLimitStore }: Config, secret: string): void {
  if (rateLimitStore === 'memory') {
    container.bind(RateLimitStore).to(MemoryRateLimitStore);
    return;
  }
  container.bind(RateLimitStore).toService(LeasedRateLimitStore);
  container.bind(LeasedRateLimitStore).toResolvedValue(
    (database, unitOfWork, logger, ids) =>
      new LeasedRateLimitStore({
        ledger: new PostgresRateLimitLedger(unitOfWork, keyedDigest(secret, 'rate limits'), ids.next('req')),
        logger,
        patienceMs: ledgerPatienceMs(database),
      }),
    [DataSource, TypeOrmUnitOfWork, Logger, IdGenerator],
  );
}

/** Lets all instances know of the calls on this one, if they count together for the rate limits. */
export function rateLimitReports(container: Container): Background {
  const store = container.get(RateLimitStore);
  const shared = store instanceof LeasedRateLimitStore ? store : null;
  return { start: async () => shared?.start(), stop: async (graceMs) => shared?.stop(graceMs) };
}
