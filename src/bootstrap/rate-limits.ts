import type { Container } from 'inversify';
import { RateLimitStore } from '../application/operations/ports.js';
import { IdGenerator, Logger } from '../application/shared/ports.js';
import { keyedDigest } from '../infrastructure/crypto/secrets.js';
import { LeasedRateLimitStore } from '../infrastructure/rate-limit/leased-rate-limit-store.js';
import { DataSource } from '../infrastructure/typeorm/data-source.js';
import { ledgerPatienceMs, PostgresRateLimitLedger } from '../infrastructure/typeorm/operations/rate-limits.js';
import { TypeOrmUnitOfWork } from '../infrastructure/typeorm/typeorm-unit-of-work.js';
import type { Background } from './background.js';

/** Binds a store that counts the calls of all instances. */
export function bindSharedRateLimits(container: Container, secret: string): void {
  container.rebind(RateLimitStore).toService(LeasedRateLimitStore);
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
