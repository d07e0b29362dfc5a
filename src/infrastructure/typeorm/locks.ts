import { injectable } from 'inversify';
import type { LockMode, Locks } from '../../application/shared/ports.js';
import { TypeOrmUnitOfWork } from './typeorm-unit-of-work.js';

/** Ends the transaction of an instance that stopped in the middle of it, before others give up waiting. */
const LONGEST_PAUSE = '2500ms';

/** Locks until the end of the transaction. The ORM knows no advisory locks. */
const lock = (mode: LockMode) => `
  SELECT set_config('idle_in_transaction_session_timeout', $2, true),
         pg_advisory_xact_lock${mode === 'shared' ? '_shared' : ''}(hashtextextended($1, 0))`;

/** Runs read committed behind an advisory lock: each statement sees everything committed before the lock was taken. */
@injectable()
export class TypeOrmLocks implements Locks {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  run<T>(line: string, work: () => Promise<T>, mode: LockMode = 'exclusive'): Promise<T> {
    return this.unitOfWork.readCommitted(async () => {
      await this.unitOfWork.query(lock(mode), [line, LONGEST_PAUSE]);
      return work();
    });
  }
}
