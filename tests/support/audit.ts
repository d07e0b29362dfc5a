import { Audit } from '../../src/application/audit/audit.service.js';
import type { Clock } from '../../src/application/shared/ports.js';
import { AsyncRequestContext } from '../../src/infrastructure/system/adapters.js';
import { ManualClock } from '../fakes/shared/manual-clock.js';
import { at, ids } from './records.js';
import type { Repositories } from './repositories.js';

type Kept = Pick<Repositories, 'unitOfWork' | 'auditTrail'>;

/** Creates the audit on these repositories. */
export const auditOn = ({ unitOfWork, auditTrail }: Kept, clock: Clock = new ManualClock(at(0))): Audit =>
  new Audit(unitOfWork, auditTrail, new AsyncRequestContext(), ids, clock);
