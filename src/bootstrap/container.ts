import 'reflect-metadata';
import { Container, type ServiceIdentifier } from 'inversify';
import type { Log } from '../application/shared/ports/log.js';
import { keptSecret } from '../infrastructure/files/service-secret.js';
import type { DataSource } from '../infrastructure/typeorm/data-source.js';
import type { PublicAddress } from '../interfaces/web/page-links.js';
import type { Config } from './config/config.js';
import { accountsModule } from './modules/accounts.module.js';
import { administrationModule } from './modules/administration.module.js';
import { alertsModule } from './modules/alerts.module.js';
import { auditModule } from './modules/audit.module.js';
import { chatModule } from './modules/chat.module.js';
import { datasetsModule } from './modules/datasets.module.js';
import { deploymentsModule } from './modules/deployments.module.js';
import { evaluationsModule } from './modules/evaluations.module.js';
import { jobsModule } from './modules/jobs.module.js';
import { mailModule } from './modules/mail.module.js';
import { metricsModule } from './modules/metrics.module.js';
import { modelFilesModule } from './modules/model-files.module.js';
import { modelsModule } from './modules/models.module.js';
import { notifiersModule } from './modules/notifiers.module.js';
import { operationsModule } from './modules/operations.module.js';
import { processesModule } from './modules/processes.module.js';
import { sharedModule } from './modules/shared.module.js';
import { teamModule } from './modules/team.module.js';
import { webhooksModule } from './modules/webhooks.module.js';
import { workspaceModule } from './modules/workspace.module.js';
import type { Source } from './provide.js';

/** What another process of the service may take beyond what a model may. */
export const PEER_GRACE_MS = 5_000;

export interface Foundations {
  readonly config: Config;
  readonly database: DataSource;
  readonly log: Log;
  readonly address: PublicAddress;
}

/** Puts the adapters behind their ports. */
export class Parts {
  private readonly container = new Container();

  constructor({ config, database, log, address }: Foundations) {
    const secret = config.secret ?? keptSecret(config.dataDir);
    this.container.load(
      sharedModule(config, database, log),
      accountsModule(config, address),
      teamModule(secret),
      mailModule(config, secret),
      workspaceModule(config),
      datasetsModule(),
      modelsModule(),
      chatModule(config, log),
      deploymentsModule(config, log),
      modelFilesModule(config),
      jobsModule(),
      processesModule(secret, config.inferenceTimeoutMs + PEER_GRACE_MS),
      evaluationsModule(),
      alertsModule(),
      operationsModule(config),
      metricsModule(),
      notifiersModule(),
      auditModule(),
      administrationModule(),
      webhooksModule(config, secret),
    );
  }

  get<T>(source: Source<T>): T {
    return this.container.get<T>(source as ServiceIdentifier<T>);
  }

  /** Puts another adapter behind a port; before anything that uses the port has been got. */
  replace<T>(source: Source<T>, value: T): void {
    this.container.unbind(source as ServiceIdentifier<T>);
    this.container.bind<T>(source as ServiceIdentifier<T>).toConstantValue(value);
  }
}
