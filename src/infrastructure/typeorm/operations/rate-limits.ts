import type { DataSource } from 'typeorm';
import { instanceLimits, type RateLimitKey } from '../../../application/operations/ports.js';
import type { LedgerAnswer, LedgerAsk, RateLimitLedger } from '../../rate-limit/rate-limit-ledger.js';
import { rateLimitMs } from '../connections.js';
import { defineTable } from '../table.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface RateLimitRow {
  readonly key: string;
  readonly policy: string;
  readonly times: readonly string[];
  readonly counts: readonly number[];
  readonly total: number;
  readonly holders: readonly string[];
  readonly leased: readonly number[];
  readonly ends: readonly string[];
  readonly expiresAt: Date;
}

/** The calls and the leases of a caller under one policy. The SQL function `take_rate_limits` reads and writes the rows. */
export const RateLimitTable = defineTable<RateLimitRow>('rate_limits', {
  key: { type: 'text', primary: true },
  policy: { type: 'text', primary: true },
  times: { type: 'bigint', array: true },
  counts: { type: 'integer', array: true },
  total: { type: 'integer' },
  holders: { type: 'text', array: true },
  leased: { type: 'integer', array: true },
  ends: { type: 'bigint', array: true },
  expiresAt: { type: 'timestamptz' },
});

/** Returns how long calls may wait for the counts in this database. */
export const ledgerPatienceMs = ({ options }: DataSource): number => rateLimitMs((options as { url: string }).url);

/** The function does what `RateLimitLedger.ask` promises. It locks the rows of the limits until the statement ends. */
const TAKE = 'SELECT admitted, limits FROM take_rate_limits($1, $2, $3)';

const INSTANCES = `
  SELECT count(*)::integer AS count FROM instances WHERE reported_at > now() - $1 * interval '1 millisecond'`;

/** Counts in a table, by the clock of the database. */
export class PostgresRateLimitLedger implements RateLimitLedger {
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    /** Returns a digest that only the holder of the secret can compute: there are few addresses to guess. */
    private readonly digestOf: (text: string) => string,
    /** Stands for this instance. No other instance has it. */
    private readonly holder: string,
  ) {}

  keyOf({ kind, value }: RateLimitKey): string {
    return this.digestOf(`${kind} ${value}`);
  }

  async ask(asks: readonly LedgerAsk[], reservedMs: number): Promise<readonly LedgerAnswer[]> {
    const values = [this.holder, reservedMs, JSON.stringify(asks)];
    return this.unitOfWork.prepared<LedgerAnswer>('rate limits', TAKE, values);
  }

  async instances(): Promise<number> {
    const values = [instanceLimits.livesMs];
    const [row] = await this.unitOfWork.prepared<{ count: number }>('instances for rate limits', INSTANCES, values);
    return row?.count ?? 0;
  }
}
