import { injectable } from 'inversify';
import { type Caller, callerKinds } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Actor, type AuditAction, type AuditDetails, type AuditEntry } from '../../domain/audit/audit-entry.js';
import { Clock, IdGenerator, type Page, RequestContext, UnitOfWork } from '../shared/ports.js';
import { type AuditFilter, AuditRepository } from './ports.js';

export interface Act {
  readonly by: Caller | Actor;
  readonly action: AuditAction;
  /** The admins of `teamId` may read the entry. Without `teamId`, the admins of the actor's team may read it. */
  readonly object: { readonly id: string; readonly name?: string | null; readonly teamId?: string };
  readonly details?: AuditDetails;
}

/** Records actions in the audit trail. */
@injectable()
export class Audit {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly entries: AuditRepository,
    private readonly request: RequestContext,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Appends an entry. Must be called inside the unit of work of the action. */
  async record({ by, action, object, details = {} }: Act): Promise<void> {
    const { teamId, ...actor } = isCaller(by) ? Actor.of(by) : by;
    await this.entries.append({
      id: this.ids.next('aud'),
      createdAt: this.clock.now(),
      actor,
      action,
      objectId: object.id,
      objectName: object.name ?? null,
      teamId: object.teamId ?? teamId,
      requestId: this.request.id,
      details,
    });
  }

  /** Runs `work` and records the action in one unit of work. Records nothing if `work` returns false. */
  perform<T>(act: Act, work: () => Promise<T>): Promise<T> {
    return this.unitOfWork.run(async () => {
      const done = await work();
      if (done !== false) await this.record(act);
      return done;
    });
  }
}

const isCaller = (by: Caller | Actor): by is Caller => callerKinds.some((kind) => kind === by.kind);

interface Listing extends Omit<AuditFilter, 'team'> {
  readonly page: Page;
}

@injectable()
export class AuditService {
  constructor(private readonly entries: AuditRepository) {}

  /**
   * Returns audit entries, newest first. An admin reads the entries of the admin's team. An admin of the operator team
   * also reads the entries without a team. The master key reads all entries.
   */
  async list(by: Caller | null, { page, ...filter }: Listing): Promise<AuditEntry[]> {
    const caller = authorize(by, permissions.readAudit);
    const team = caller.kind === 'master' ? null : { id: caller.teamId, operator: caller.operator };
    return this.entries.list({ ...filter, team }, page);
  }
}
