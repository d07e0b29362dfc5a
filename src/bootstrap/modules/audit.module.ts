import { ContainerModule } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { AuditTrail } from '../../application/audit/ports/audit-trail.js';
import { ReadAudit } from '../../application/audit/read-audit.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { CurrentRequest } from '../../application/shared/ports/current-request.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { AsyncCurrentRequest } from '../../infrastructure/system/async-current-request.js';
import { TypeOrmAuditTrail } from '../../infrastructure/typeorm/audit/typeorm-audit-trail.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { AuditController } from '../../interfaces/http/audit/audit.controller.js';
import { provide } from '../provide.js';

export const auditModule = () =>
  new ContainerModule((module) => {
    provide(module, CurrentRequest, AsyncCurrentRequest, []);
    provide(module, AuditTrail, TypeOrmAuditTrail, [TypeOrmUnitOfWork]);
    provide(module, Audit, Audit, [UnitOfWork, AuditTrail, CurrentRequest, Identifiers, Clock]);
    provide(module, ReadAudit, ReadAudit, [AuditTrail]);
    provide(module, AuditController, AuditController, [ReadAudit]);
  });
