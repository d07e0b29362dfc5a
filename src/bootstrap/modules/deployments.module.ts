import { ContainerModule } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { CreateDeployment } from '../../application/deployments/create-deployment.js';
import { DeleteDeployment } from '../../application/deployments/delete-deployment.js';
import { DeploymentViews } from '../../application/deployments/deployment-views.js';
import { ListDeployments } from '../../application/deployments/list-deployments.js';
import { Deployments } from '../../application/deployments/ports/deployments.js';
import { ModelFiles } from '../../application/deployments/ports/model-files.js';
import { ModelServers } from '../../application/deployments/ports/model-servers.js';
import { Predict } from '../../application/deployments/predict.js';
import { ReadDeployment } from '../../application/deployments/read-deployment.js';
import { ReadDeploymentOutput } from '../../application/deployments/read-deployment-output.js';
import { TendDeployments } from '../../application/deployments/tend-deployments.js';
import { TrackCalls } from '../../application/jobs/track-calls.js';
import { Ownership } from '../../application/processes/ownership.js';
import { OtherProcesses } from '../../application/processes/ports/other-processes.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import type { Log } from '../../application/shared/ports/log.js';
import { LocalModelFiles } from '../../infrastructure/files/local-model-files.js';
import { LocalModelServer } from '../../infrastructure/model-server/local-model-server.js';
import { TypeOrmDeployments } from '../../infrastructure/typeorm/deployments/typeorm-deployments.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { bodyLimits } from '../../interfaces/http/body.js';
import { DeploymentsController } from '../../interfaces/http/deployments/deployments.controller.js';
import type { Config } from '../config/config.js';
import { shippedProgram } from '../config/shipped.js';
import { provide, provideValue } from '../provide.js';

export const deploymentsModule = (config: Config, log: Log) =>
  new ContainerModule((module) => {
    const files = new LocalModelFiles(config.modelFolders);
    const settings = {
      program: shippedProgram('infrastructure/model-server/process/main.js'),
      threads: config.servingThreads,
      bodyLimit: bodyLimits.prediction,
      startTimeoutMs: config.deploymentStartTimeoutMs,
      inferenceTimeoutMs: config.inferenceTimeoutMs,
    };
    provideValue(module, ModelFiles, files);
    provideValue(module, ModelServers, new LocalModelServer(settings, files, log));
    provide(module, Deployments, TypeOrmDeployments, [TypeOrmUnitOfWork]);
    provide(module, DeploymentViews, DeploymentViews, [Deployments, ModelServers, Ownership, OtherProcesses]);
    provide(module, ListDeployments, ListDeployments, [Deployments, DeploymentViews]);
    provide(module, ReadDeployment, ReadDeployment, [DeploymentViews]);
    provide(module, CreateDeployment, CreateDeployment, [
      Deployments,
      ModelServers,
      DeploymentViews,
      Audit,
      Identifiers,
      Clock,
      Ownership,
      TendDeployments,
    ]);
    provide(module, DeleteDeployment, DeleteDeployment, [Deployments, ModelServers, Audit, Ownership, OtherProcesses]);
    provide(module, Predict, Predict, [DeploymentViews, ModelServers, TrackCalls]);
    provide(module, ReadDeploymentOutput, ReadDeploymentOutput, [DeploymentViews, ModelServers]);
    provide(module, TendDeployments, TendDeployments, [Deployments, ModelServers, Ownership]);
    provide(module, DeploymentsController, DeploymentsController, [
      ListDeployments,
      CreateDeployment,
      ReadDeployment,
      DeleteDeployment,
      Predict,
      ReadDeploymentOutput,
    ]);
  });
