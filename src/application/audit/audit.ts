import { injectable } from 'inversify';
import { type Caller, callerKinds } from '../../domain/accounts/caller.js';
import { Actor, type AuditAction, type AuditDetails } from '../../domain/audit/audit-entry.js';
import { Clock, IdGenerator, RequestContext, UnitOfWork } from '../shared/ports.js';
import { AuditRepository } from './ports.js';

export interface Act {
  readonly by: Caller | Actor;
  readonly action: AuditAction;
  /** Its team, where it has one, or else the actor's is the one whose admins may read of the act. */
  readonly object: { readonly id: string; readonly name?: string | null; readonly teamId?: string };
  readonly details?: AuditDetails;
}

/** How use cases leave a trace of what they do. */
@injectable()
export class Audit {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly trail: AuditRepository,
    private readonly request: RequestContext,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Within the caller's unit of work. */
  async record({ by, action, object, details = {} }: Act): Promise<void> {
    const { teamId, ...actor } = isCaller(by) ? Actor.of(by) : by;
    await this.trail.append({
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

  /** Does `work` and records it, in one unit of work. Where it answers false it did nothing, and there is no entry. */
  perform<T>(act: Act, work: () => Promise<T>): Promise<T> {
    return this.unitOfWork.run(async () => {
      const done = await work();
      if (done !== false) await this.record(act);
      return done;
    });
  }
}

const isCaller = (by: Caller | Actor): by is Caller => callerKinds.some((kind) => kind === by.kind);
