import { ContainerModule } from 'inversify';
import { AlertNotifier } from '../../application/alerts/ports/alert-notifier.js';
import { AlertRules } from '../../application/alerts/ports/alert-rules.js';
import { Alerts } from '../../application/alerts/ports/alerts.js';
import { CreateEvaluation } from '../../application/evaluations/create-evaluation.js';
import { BegunCalls } from '../../application/jobs/begun-calls.js';
import { ChangeJob } from '../../application/jobs/change-job.js';
import { CreateExternalJob } from '../../application/jobs/create-external-job.js';
import { FinishJobs } from '../../application/jobs/finish-jobs.js';
import { ListJobs } from '../../application/jobs/list-jobs.js';
import { JobHistory } from '../../application/jobs/ports/job-history.js';
import { Jobs } from '../../application/jobs/ports/jobs.js';
import { LivingProcesses } from '../../application/jobs/ports/living-processes.js';
import { ReadJob } from '../../application/jobs/read-job.js';
import { TendCalls } from '../../application/jobs/tend-calls.js';
import { TrackCalls } from '../../application/jobs/track-calls.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { Log } from '../../application/shared/ports/log.js';
import { OneAtATime } from '../../application/shared/ports/one-at-a-time.js';
import { Sharing } from '../../application/shared/ports/sharing.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { WorkQueue } from '../../application/shared/ports/work-queue.js';
import { ProjectModels } from '../../application/workspace/project-models.js';
import { TypeOrmJobHistory } from '../../infrastructure/typeorm/jobs/typeorm-job-history.js';
import { TypeOrmJobs } from '../../infrastructure/typeorm/jobs/typeorm-jobs.js';
import { TypeOrmLivingProcesses } from '../../infrastructure/typeorm/jobs/typeorm-living-processes.js';
import { OutageLog } from '../../infrastructure/typeorm/outage-log.js';
import { GraphileWorkQueue } from '../../infrastructure/typeorm/queue/graphile-work-queue.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { JobsController } from '../../interfaces/http/jobs/jobs.controller.js';
import { provide } from '../provide.js';
import { Database } from '../tokens.js';

export const jobsModule = () =>
  new ContainerModule((module) => {
    provide(module, Jobs, TypeOrmJobs, [TypeOrmUnitOfWork]);
    provide(module, JobHistory, TypeOrmJobHistory, [TypeOrmUnitOfWork]);
    provide(module, LivingProcesses, TypeOrmLivingProcesses, [Database]);
    provide(module, WorkQueue, GraphileWorkQueue, [Database, TypeOrmUnitOfWork, LivingProcesses, Log, OutageLog]);
    provide(module, FinishJobs, FinishJobs, [
      OneAtATime,
      Jobs,
      JobHistory,
      AlertRules,
      Alerts,
      AlertNotifier,
      Identifiers,
      Log,
      Sharing,
    ]);
    provide(module, BegunCalls, BegunCalls, [Jobs, Log, Sharing]);
    provide(module, TrackCalls, TrackCalls, [BegunCalls, FinishJobs, LivingProcesses, Identifiers, Clock, Log]);
    provide(module, TendCalls, TendCalls, [
      TrackCalls,
      Jobs,
      JobHistory,
      FinishJobs,
      LivingProcesses,
      WorkQueue,
      Clock,
      Log,
    ]);
    provide(module, CreateExternalJob, CreateExternalJob, [ProjectModels, Jobs, Identifiers, Clock, Log]);
    provide(module, ListJobs, ListJobs, [Jobs]);
    provide(module, ReadJob, ReadJob, [Jobs]);
    provide(module, ChangeJob, ChangeJob, [Jobs, FinishJobs, UnitOfWork, Clock, Log]);
    provide(module, JobsController, JobsController, [
      CreateExternalJob,
      CreateEvaluation,
      ListJobs,
      ReadJob,
      ChangeJob,
    ]);
  });
