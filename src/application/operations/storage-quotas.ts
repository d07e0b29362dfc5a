import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { QuotaExceeded, type QuotaName } from '../../domain/shared/storage-quota.js';
import { ServiceSettings, UnitOfWork } from '../shared/ports.js';
import { type MeasuredQuota, StorageMeter } from './ports.js';

/** A stored amount and its limit. */
export interface StoredAmount {
  readonly used: number;
  readonly limit: number;
}

export type StoredAmounts = Readonly<Partial<Record<QuotaName, StoredAmount>> & Record<'externalJobs', StoredAmount>>;

/** Writes of more bytes, such as imports of datasets, have a queue of their own. */
const LONG_WRITE_BYTES = 100_000;

/** Keeps what accounts, teams and the service store within the operator's limits. */
@injectable()
export class StorageQuotas {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly meter: StorageMeter,
    private readonly settings: ServiceSettings,
  ) {}

  /**
   * Runs `write` in a transaction if what it adds fits. Measures under the team's lock before the commit, so that writes
   * on all instances exceed no quota together. The lock does not last for the write, and a long write lets the team's
   * short ones pass. Throws QuotaExceeded, and throws inside a unit of work.
   */
  add<T>(by: Caller, added: Partial<Record<MeasuredQuota, number>>, write: () => Promise<T>): Promise<T> {
    const owner = ownerOf(by);
    const names = Object.keys(added) as MeasuredQuota[];
    const name = `storage of ${owner.teamId ?? 'the master key'}`;
    const { workspaceBytes = 0, responseBytes = 0 } = added;
    const isLong = Math.max(workspaceBytes, responseBytes) > LONG_WRITE_BYTES;
    const requireRoom = async (when: 'before' | 'after') => {
      const used = await this.meter.measure(owner, names);
      for (const name of names)
        this.requireRoom(name, used[name] - (when === 'after' ? (added[name] ?? 0) : 0), added[name]);
    };
    return this.unitOfWork.checked(name, {
      work: async () => {
        if (isLong) await requireRoom('before'); // so that it is not made in vain
        return write();
      },
      check: () => requireRoom('after'),
      queueName: isLong ? `${name}, long` : name,
    });
  }

  /** Throws QuotaExceeded if the caller's account or team may store nothing more. */
  async requireAnyRoom(by: Caller, name: MeasuredQuota): Promise<void> {
    this.requireRoom(name, (await this.meter.measure(ownerOf(by), [name]))[name]);
  }

  /** Throws QuotaExceeded if nothing more, or not `added` more, may be stored. */
  requireRoom(name: QuotaName, used: number, added = 0): void {
    const limit = this.settings.quotas[name];
    if (used + Math.max(1, added) > limit) throw new QuotaExceeded(name, { used, added, limit });
  }

  /** Returns what the caller's account and team have stored. An account has everything, the master key only jobs. */
  async stored(by: Caller): Promise<StoredAmounts> {
    const all = ['projects', 'workspaceBytes', 'conversationBytes', 'responseBytes', 'externalJobs'] as const;
    const names: readonly MeasuredQuota[] = by.kind === 'master' ? ['externalJobs'] : all;
    const used = await this.meter.measure(ownerOf(by), names);
    const amounts = names.map((name) => [name, this.amount(name, used[name])]);
    return Object.fromEntries(amounts) as StoredAmounts;
  }

  amount(name: QuotaName, used: number): StoredAmount {
    return { used, limit: this.settings.quotas[name] };
  }
}

const ownerOf = (by: Caller) =>
  by.kind === 'master' ? { teamId: null, accountId: null } : { teamId: by.teamId, accountId: by.accountId };
