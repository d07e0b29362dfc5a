import { ContainerModule } from 'inversify';
import { RuntimeStates } from '../../application/chat/runtime-states.js';
import { SettleRuntime } from '../../application/chat/settle-runtime.js';
import { ModelServers } from '../../application/deployments/ports/model-servers.js';
import { TendDeployments } from '../../application/deployments/tend-deployments.js';
import { LivingProcesses } from '../../application/jobs/ports/living-processes.js';
import { AnswerProcesses } from '../../application/processes/answer-processes.js';
import { Ownership } from '../../application/processes/ownership.js';
import { OtherProcesses } from '../../application/processes/ports/other-processes.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { processKeys } from '../../infrastructure/crypto/process-keys.js';
import { HttpOtherProcesses } from '../../infrastructure/peers/http-other-processes.js';
import { provide, provideValue } from '../provide.js';
import { ProcessKeys } from '../tokens.js';

/** Several processes on one database: who runs what, and how they ask each other. */
export const processesModule = (secret: string) =>
  new ContainerModule((module) => {
    provideValue(module, ProcessKeys, processKeys(secret));
    provide(module, Ownership, Ownership, [LivingProcesses, Clock]);
    provide(module, OtherProcesses, HttpOtherProcesses, [LivingProcesses, ProcessKeys]);
    provide(module, AnswerProcesses, AnswerProcesses, [ModelServers, TendDeployments, RuntimeStates, SettleRuntime]);
  });
