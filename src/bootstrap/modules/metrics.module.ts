import { ContainerModule } from 'inversify';
import { ChatRuntimes } from '../../application/chat/ports/chat-runtimes.js';
import { ModelServers } from '../../application/deployments/ports/model-servers.js';
import { Metrics } from '../../application/operations/ports/metrics.js';
import { ReadMetrics } from '../../application/operations/read-metrics.js';
import { BcryptPasswordHasher } from '../../infrastructure/crypto/bcrypt-password-hasher.js';
import { backlogFigures, poolFigures } from '../../infrastructure/prometheus/database-figures.js';
import { hashingFigures } from '../../infrastructure/prometheus/lane-figures.js';
import { chatFigures, deploymentFigures } from '../../infrastructure/prometheus/model-figures.js';
import { PrometheusMetrics } from '../../infrastructure/prometheus/prometheus-metrics.js';
import type { DataSource } from '../../infrastructure/typeorm/data-source.js';
import { poolLoad, readBacklog } from '../../infrastructure/typeorm/operations/backlog.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { MetricsController } from '../../interfaces/http/operations/metrics.controller.js';
import { provide, provideMade } from '../provide.js';
import { Database } from '../tokens.js';

/** Everything that has figures to tell. */
export const metricsModule = () =>
  new ContainerModule((module) => {
    const made = (
      hasher: BcryptPasswordHasher,
      database: DataSource,
      unitOfWork: TypeOrmUnitOfWork,
      servers: ModelServers,
      runtimes: ChatRuntimes,
    ) =>
      new PrometheusMetrics([
        hashingFigures(() => hasher.load),
        poolFigures(() => poolLoad(database)),
        backlogFigures(() => readBacklog(unitOfWork)),
        deploymentFigures(servers),
        chatFigures(runtimes),
      ]);
    provideMade(module, PrometheusMetrics, made, [
      BcryptPasswordHasher,
      Database,
      TypeOrmUnitOfWork,
      ModelServers,
      ChatRuntimes,
    ]);
    provideMade(module, Metrics, (metrics: PrometheusMetrics) => metrics, [PrometheusMetrics]);
    provide(module, ReadMetrics, ReadMetrics, [Metrics]);
    provide(module, MetricsController, MetricsController, [ReadMetrics]);
  });
