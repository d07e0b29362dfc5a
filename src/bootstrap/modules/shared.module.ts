import { ContainerModule } from 'inversify';
import { IdentifyCaller } from '../../application/access/identify-caller.js';
import { Credentials } from '../../application/access/ports/credentials.js';
import { MasterKey } from '../../application/access/ports/master-key.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { Log } from '../../application/shared/ports/log.js';
import { OneAtATime } from '../../application/shared/ports/one-at-a-time.js';
import { SecretTokens } from '../../application/shared/ports/secret-tokens.js';
import { Sharing } from '../../application/shared/ports/sharing.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { CheckedTokens } from '../../infrastructure/crypto/checked-tokens.js';
import { ConfiguredMasterKey } from '../../infrastructure/crypto/configured-master-key.js';
import { SystemClock } from '../../infrastructure/system/system-clock.js';
import { UuidIdentifiers } from '../../infrastructure/system/uuid-identifiers.js';
import { TypeOrmCredentials } from '../../infrastructure/typeorm/access/typeorm-credentials.js';
import type { DataSource } from '../../infrastructure/typeorm/data-source.js';
import { OutageLog } from '../../infrastructure/typeorm/outage-log.js';
import { PatientSharing } from '../../infrastructure/typeorm/patient-sharing.js';
import { TypeOrmOneAtATime } from '../../infrastructure/typeorm/typeorm-one-at-a-time.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';
import { Database } from '../tokens.js';

/** What every feature stands on, and who calls. */
export const sharedModule = (config: Config, database: DataSource, log: Log) =>
  new ContainerModule((module) => {
    provideValue(module, Database, database);
    provideValue(module, Log, log);
    provideValue(module, OutageLog, new OutageLog(log));
    const unitOfWork = new TypeOrmUnitOfWork(database);
    provideValue(module, TypeOrmUnitOfWork, unitOfWork);
    provideValue(module, UnitOfWork, unitOfWork);
    provide(module, OneAtATime, TypeOrmOneAtATime, [TypeOrmUnitOfWork]);
    provide(module, Sharing, PatientSharing, []);
    provide(module, Clock, SystemClock, []);
    provide(module, Identifiers, UuidIdentifiers, []);
    provide(module, SecretTokens, CheckedTokens, []);
    provideValue(module, MasterKey, new ConfiguredMasterKey(config.masterKey));
    provide(module, Credentials, TypeOrmCredentials, [TypeOrmUnitOfWork]);
    provide(module, IdentifyCaller, IdentifyCaller, [Credentials, SecretTokens, MasterKey, Clock]);
  });
