import type { Actor, AuditEntry } from '../../domain/audit/audit-entry.js';
import type { Page } from '../shared/ports.js';

export interface AuditFilter {
  /** Only entries of this team. Null: of every team. With `operator`, the entries without a team are included. */
  readonly team: { readonly id: string; readonly operator: boolean } | null;
  /** Selects one account, or every actor of a kind. */
  readonly actor: { readonly id: string } | { readonly kind: Actor['kind'] } | null;
  /** Matches a whole action, or the part before its dot. */
  readonly action: string | null;
  readonly objectId: string | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
  /**
   * A part of the name of the actor or the object, in upper or lower case. Looks at the newest `MOST_SEARCHED` entries that
   * fit the rest of the filter.
   */
  readonly q?: string | undefined;
}

/** Stores audit entries. They are never changed or removed. */
export abstract class AuditRepository {
  /** Appends an entry in the running unit of work, so that action and entry commit together. Throws outside of it. */
  abstract append(entry: AuditEntry): Promise<void>;
  /** Returns at most `limit` entries with ids below `after`, newest first. */
  abstract list(filter: AuditFilter, page: Page): Promise<AuditEntry[]>;
}
