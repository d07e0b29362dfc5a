import { Authority } from '../../src/application/accounts/authority.js';
import { AlertService } from '../../src/application/alerts/alert.service.js';
import { AlertAnnouncer } from '../../src/application/alerts/alert-announcer.js';
import { AlertRuleService } from '../../src/application/alerts/alert-rule.service.js';
import { CallReaper } from '../../src/application/jobs/call-reaper.js';
import { CallTracker } from '../../src/application/jobs/call-tracker.js';
import { JobService } from '../../src/application/jobs/job.service.js';
import { JobFinisher } from '../../src/application/jobs/job-finisher.js';
import { OwnCallTracker } from '../../src/application/jobs/own-call-tracker.js';
import { RunningCalls } from '../../src/application/jobs/running-calls.js';
import { UsageRollUp } from '../../src/application/jobs/usage.service.js';
import { CallRecorder } from '../../src/application/record/call-recorder.js';
import { BudgetGuard } from '../../src/application/spend/budget-guard.js';
import { SpendMeter } from '../../src/application/spend/spend-meter.js';
import { TeamWorkspace } from '../../src/application/workspace/team-workspace.js';
import type { FinishedJob } from '../../src/domain/jobs/job.js';
import { NoTracer } from '../../src/infrastructure/system/adapters.js';
import type { DataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmInstanceRegistry } from '../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { GraphileWorkQueue } from '../../src/infrastructure/typeorm/queue/graphile-work-queue.js';
import { OutageLog } from '../../src/infrastructure/typeorm/storage-errors.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { ManualClock } from '../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../fakes/shared/memory-logger.js';
import { auditOn } from './audit.js';
import { masker } from './masker.js';
import { at, ids } from './records.js';
import { type Repositories, unlimitedStorage } from './repositories.js';

/**
 * Creates the services of jobs and alerts of one instance on these repositories of the database of `source`. An
 * instance that has tracked a call must leave before the end of its test.
 */
export function jobsRig(
  repositories: Repositories,
  source: DataSource,
  clock = new ManualClock(at(0)),
  log = new MemoryLogger(),
) {
  const { jobs, jobHistory, ownCalls, usage, alertRules, alerts, unitOfWork, holds, budgets } = repositories;
  const processes = new TypeOrmInstanceRegistry(source);
  const outages = new OutageLog(log);
  const queue = new GraphileWorkQueue(source, new TypeOrmUnitOfWork(source), processes, log, outages, new NoTracer());
  const meter = new SpendMeter();
  const announcer = new AlertAnnouncer([], queue, unitOfWork, alerts, log);
  const finisher = new JobFinisher(
    unitOfWork,
    jobs,
    jobHistory,
    ownCalls,
    alertRules,
    alerts,
    announcer,
    budgets,
    meter,
    ids,
    log,
  );
  const running = Object.assign(new RunningCalls(jobs, log), { delayMs: 0 });
  const guard = new BudgetGuard(holds, processes, clock, log, meter);
  const tracking = new CallTracker(
    running,
    finisher,
    guard,
    new CallRecorder(masker, { draw: () => 0 }),
    processes,
    new Authority(repositories.credentials, clock),
    ids,
    clock,
    log,
  );
  const ownTracker = new OwnCallTracker(finisher, jobs, holds, guard, clock, log);
  const audit = auditOn(repositories, clock);
  const found = new TeamWorkspace(repositories.projects, repositories.models, repositories.datasets);
  const rollUp = new UsageRollUp(usage, unitOfWork, clock);
  return {
    ...repositories,
    clock,
    log,
    processes,
    running,
    finisher,
    tracking,
    guard,
    ownTracker,
    reaper: new CallReaper(
      tracking,
      jobs,
      jobHistory,
      finisher,
      rollUp,
      processes,
      queue,
      holds,
      guard,
      ownTracker,
      repositories.keptCalls,
      repositories.instanceReports,
      clock,
      log,
    ),
    jobService: new JobService(jobs, found, finisher, unlimitedStorage(repositories), unitOfWork, ids, clock, log),
    rules: new AlertRuleService(alertRules, jobHistory, budgets, unitOfWork, audit, ids, clock),
    alerts: new AlertService(alerts, announcer, audit, clock),
    /** Returns all finished jobs in order. */
    async history(): Promise<FinishedJob[]> {
      const finished: FinishedJob[] = [];
      for await (const job of jobHistory.part({ kind: null, since: null, most: 10_000 })) finished.push(job);
      return finished;
    },
    allAlerts: () => alerts.list(null, { limit: 10_000, after: null }),
    allJobs: () =>
      jobs.list({ teamId: null, status: null, kind: null, projectId: null }, { limit: 10_000, after: null }),
  };
}
export type JobsRig = ReturnType<typeof jobsRig>;
