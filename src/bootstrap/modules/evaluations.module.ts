import { ContainerModule } from 'inversify';
import { Accounts } from '../../application/accounts/ports/accounts.js';
import { CompleteHere } from '../../application/chat/complete-here.js';
import { RuntimeStates } from '../../application/chat/runtime-states.js';
import { AskModel } from '../../application/evaluations/ask-model.js';
import { CreateEvaluation } from '../../application/evaluations/create-evaluation.js';
import { Evaluations } from '../../application/evaluations/ports/evaluations.js';
import { ReadEvaluation } from '../../application/evaluations/read-evaluation.js';
import { RunEvaluation } from '../../application/evaluations/run-evaluation.js';
import { FinishJobs } from '../../application/jobs/finish-jobs.js';
import { Jobs } from '../../application/jobs/ports/jobs.js';
import { Ownership } from '../../application/processes/ownership.js';
import { OtherProcesses } from '../../application/processes/ports/other-processes.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { Log } from '../../application/shared/ports/log.js';
import { OneAtATime } from '../../application/shared/ports/one-at-a-time.js';
import { Pauses } from '../../application/shared/ports/pauses.js';
import { WorkQueue } from '../../application/shared/ports/work-queue.js';
import { Datasets } from '../../application/workspace/ports/datasets.js';
import { ProjectDatasets } from '../../application/workspace/project-datasets.js';
import { ProjectModels } from '../../application/workspace/project-models.js';
import { TimedPauses } from '../../infrastructure/system/timed-pauses.js';
import { TypeOrmEvaluations } from '../../infrastructure/typeorm/evaluations/typeorm-evaluations.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { EvaluationsController } from '../../interfaces/http/evaluations/evaluations.controller.js';
import { provide } from '../provide.js';

/** Datasets that are run through models and scored. */
export const evaluationsModule = () =>
  new ContainerModule((module) => {
    provide(module, Pauses, TimedPauses, []);
    provide(module, Evaluations, TypeOrmEvaluations, [TypeOrmUnitOfWork]);
    provide(module, AskModel, AskModel, [RuntimeStates, CompleteHere, OtherProcesses, Ownership, Pauses, Clock, Log]);
    provide(module, RunEvaluation, RunEvaluation, [
      AskModel,
      Evaluations,
      Datasets,
      Jobs,
      Accounts,
      FinishJobs,
      Clock,
      Log,
    ]);
    provide(module, CreateEvaluation, CreateEvaluation, [
      ProjectModels,
      ProjectDatasets,
      RuntimeStates,
      Jobs,
      Evaluations,
      WorkQueue,
      OneAtATime,
      Identifiers,
      Clock,
      Log,
    ]);
    provide(module, ReadEvaluation, ReadEvaluation, [Jobs, Evaluations]);
    provide(module, EvaluationsController, EvaluationsController, [ReadEvaluation]);
  });
