import { ContainerModule } from 'inversify';
import { Accounts } from '../../application/accounts/ports/accounts.js';
import { RuntimeStates } from '../../application/chat/runtime-states.js';
import { Leftovers } from '../../application/operations/ports/leftovers.js';
import { LogTail } from '../../application/operations/ports/log-tail.js';
import { Storage } from '../../application/operations/ports/storage.js';
import { ReadLog } from '../../application/operations/read-log.js';
import { ReadStatus } from '../../application/operations/read-status.js';
import { RemoveLeftovers } from '../../application/operations/remove-leftovers.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Log } from '../../application/shared/ports/log.js';
import { Projects } from '../../application/workspace/ports/projects.js';
import { FileLogTail } from '../../infrastructure/logging/file-log-tail.js';
import { TypeOrmLeftovers } from '../../infrastructure/typeorm/operations/typeorm-leftovers.js';
import { TypeOrmStorage } from '../../infrastructure/typeorm/typeorm-storage.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { Drain } from '../../interfaces/http/drain.js';
import { HealthController } from '../../interfaces/http/operations/health.controller.js';
import { LogsController } from '../../interfaces/http/operations/logs.controller.js';
import { StatusController } from '../../interfaces/http/operations/status.controller.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';
import { Database } from '../tokens.js';

/** What the people who run the service look at. */
export const operationsModule = (config: Config) =>
  new ContainerModule((module) => {
    provide(module, Storage, TypeOrmStorage, [Database]);
    provide(module, Leftovers, TypeOrmLeftovers, [TypeOrmUnitOfWork]);
    provide(module, RemoveLeftovers, RemoveLeftovers, [Leftovers, Clock, Log]);
    provide(module, Drain, Drain, []);
    provide(module, HealthController, HealthController, [Storage, Drain]);
    provideValue(module, LogTail, new FileLogTail(config.logFile));
    provide(module, ReadLog, ReadLog, [LogTail, Log]);
    provide(module, LogsController, LogsController, [ReadLog]);
    provide(module, ReadStatus, ReadStatus, [Accounts, Projects, RuntimeStates]);
    provide(module, StatusController, StatusController, [ReadStatus]);
  });
