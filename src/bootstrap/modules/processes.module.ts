import { ContainerModule } from 'inversify';
import { CompleteHere } from '../../application/chat/complete-here.js';
import { ChatRuntimes } from '../../application/chat/ports/chat-runtimes.js';
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
import { PeerPatience, ProcessKeys } from '../tokens.js';

/** Several processes on one database: who runs what, and how they ask each other. */
export const processesModule = (secret: string, completeMs: number) =>
  new ContainerModule((module) => {
    provideValue(module, ProcessKeys, processKeys(secret));
    provide(module, Ownership, Ownership, [LivingProcesses, Clock]);
    provideValue(module, PeerPatience, completeMs);
    provide(module, OtherProcesses, HttpOtherProcesses, [LivingProcesses, ProcessKeys, PeerPatience]);
    provide(module, CompleteHere, CompleteHere, [ChatRuntimes, Clock]);
    provide(module, AnswerProcesses, AnswerProcesses, [
      ModelServers,
      TendDeployments,
      RuntimeStates,
      SettleRuntime,
      CompleteHere,
    ]);
  });
