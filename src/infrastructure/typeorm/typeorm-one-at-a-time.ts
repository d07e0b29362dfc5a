import { injectable } from 'inversify';
import type { Locks } from '../../application/shared/ports.js';
import { TypeOrmUnitOfWork } from './typeorm-unit-of-work.js';

/** Who stops in the midst of a turn loses it after this, before those who wait give up. */
const LONGEST_PAUSE = '2500ms';

/** Given back by itself when the transaction ends. */
const WAIT = `
  SELECT set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock(hashtextextended($1, 0))`;

/** Read committed, behind a lock of PostgreSQL: each statement sees all that was committed before the turn began. */
@injectable()
export class TypeOrmLocks implements Locks {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  run<T>(line: string, work: () => Promise<T>): Promise<T> {
    return this.unitOfWork.apart('READ COMMITTED', async () => {
      await this.unitOfWork.prepared('one-at-a-time', WAIT, [line, LONGEST_PAUSE]);
      return work();
    });
  }
}
