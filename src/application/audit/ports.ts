import type { Actor, AuditEntry } from '../../domain/audit/audit-entry.js';

export interface AuditFilter {
  /** Null: of every team. Otherwise of this one and, where it is the operators', of no team. */
  readonly team: { readonly id: string; readonly operator: boolean } | null;
  /** An account, or everybody of a kind. */
  readonly actor: { readonly id: string } | { readonly kind: Actor['kind'] } | null;
  /** A whole action, or the kind of object before its dot. */
  readonly action: string | null;
  readonly objectId: string | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
}

/** What was done, entry by entry; nothing changes or removes one. */
export abstract class AuditRepository {
  /** In the unit of work of the act, so that both are kept or neither. Throws outside of a unit. */
  abstract append(entry: AuditEntry): Promise<void>;
  /** Newest first: at most `limit`, those that come after the one with the id `after`. */
  abstract list(
    filter: AuditFilter,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<AuditEntry[]>;
}
