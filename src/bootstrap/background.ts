import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from 'inversify';
import { MAIL, MailQueue } from '../application/accounts/mail-queue.js';
import { AlertAnnouncer, ANNOUNCEMENT } from '../application/alerts/alert-announcer.js';
import { ChatRuntimes } from '../application/chat/ports.js';
import { RESPONSE } from '../application/chat/response.service.js';
import { ResponseRunner } from '../application/chat/response-runner.js';
import { RuntimeReconciler } from '../application/chat/runtime-reconciler.js';
import { DeploymentReconciler } from '../application/deployments/deployment-reconciler.js';
import { ModelServer } from '../application/deployments/ports.js';
import { CallReaper } from '../application/jobs/call-reaper.js';
import { EVALUATION, EvaluationRunner } from '../application/jobs/evaluation-runner.js';
import { InstanceRegistry } from '../application/jobs/ports.js';
import { ExpiredDataService } from '../application/operations/expired-data.service.js';
import { InstanceReporter } from '../application/operations/instance-reporter.js';
import { CALL_REMOVAL, CallRemoval } from '../application/record/call-removal.js';
import { Clock, DesiredStateChanges, Logger, WorkQueue } from '../application/shared/ports.js';
import { DatasetUpkeep } from '../application/workspace/dataset-upkeep.js';
import { Repeating, steadyMs } from '../infrastructure/system/scheduling.js';
import { OutageLog } from '../infrastructure/typeorm/storage-errors.js';
import type { ModelStorage } from './model-storage.js';

const CALLS_PAUSE_MS = 2_000;
/** Prometheus also repeats alerts to Alertmanager every minute. */
const ALERTS_PAUSE_MS = 60_000;
/** If the notification of a change on another instance is lost, this instance sees the change after this time. */
const MODELS_PAUSE_MS = 2_000;
const LOADING_PAUSE_MS = 200;
const UPLOADS_PAUSE_MS = 10 * 60_000;
/** Records that no version has any more may stay for this time. */
const DATASETS_PAUSE_MS = 15_000;
/** A report may be missing twice before the others take the instance for dead. */
const REPORTS_PAUSE_MS = 5_000;
const HOUR_MS = 60 * 60 * 1000;

const MODELS_GRACE_MS = 5_000;
const UPLOADS_GRACE_MS = 1_000;
const MAINTENANCE_GRACE_MS = 2_000;
const REPORTS_GRACE_MS = 1_500;

export interface Background {
  start(): Promise<void>;
  /** Resolves once the work has stopped, or after `graceMs`. */
  stop(graceMs: number): Promise<unknown>;
}

/** Repeats work that needs the database, `pauseMs` after each run. Logs an outage of the database once. */
function repeat(
  container: Container,
  name: string,
  pauseMs: number | (() => number),
  task: (stopping: AbortSignal) => Promise<void>,
): Repeating {
  const outages = container.get(OutageLog);
  const logged = async (stopping: AbortSignal) => {
    await task(stopping);
    outages.done();
  };
  return new Repeating(logged, pauseMs, (error) => outages.failed(name, error));
}

/** Runs the tasks of the work queue, closes the calls of dead instances and repeats alerts that still fire. */
export function backgroundWork(container: Container): Background {
  const queue = container.get(WorkQueue);
  const announcer = container.get(AlertAnnouncer);
  queue.register(ANNOUNCEMENT, announcer);
  queue.register(EVALUATION, container.get(EvaluationRunner));
  queue.register(RESPONSE, container.get(ResponseRunner));
  queue.register(MAIL, container.get(MailQueue));
  queue.register(CALL_REMOVAL, container.get(CallRemoval));
  const calls = repeat(container, 'call reaper', CALLS_PAUSE_MS, () => container.get(CallReaper).execute());
  const alerts = repeat(container, 'alerts that still fire', ALERTS_PAUSE_MS, () => announcer.repeat());
  const datasets = repeat(container, 'upkeep of datasets', DATASETS_PAUSE_MS, (stopping) =>
    container.get(DatasetUpkeep).run(stopping),
  );
  return {
    async start() {
      calls.start();
      await queue.start();
      alerts.start();
      datasets.start();
    },
    stop: (graceMs) => Promise.all([queue, calls, alerts, datasets].map((one) => one.stop(graceMs))),
  };
}

interface ModelReconciliation extends Background {
  /** Resolves when no model is loading any more, or after `mostMs`. Rejects when `stopping` aborts. */
  loaded(mostMs: number, stopping?: AbortSignal): Promise<void>;
}

/** Keeps deployments and runtimes of this instance in the desired state. Removes unfinished files. */
export function modelReconciliation(
  container: Container,
  removeUnfinished: ModelStorage['removeUnfinished'],
): ModelReconciliation {
  const reconcilers = [container.get(RuntimeReconciler), container.get(DeploymentReconciler)];
  const changes = container.get(DesiredStateChanges);
  const reconcile = async () => {
    await Promise.all(reconcilers.map((one) => one.applyAll()));
  };
  const isLoading = async () => (await Promise.all(reconcilers.map((one) => one.isLoading()))).includes(true);
  const reconciling = repeat(container, 'reconciliation of models', MODELS_PAUSE_MS, reconcile);
  const uploads = new Repeating(
    (stopping) => removeUnfinished(container.get(Clock).now(), stopping),
    UPLOADS_PAUSE_MS,
    (error) => container.get(Logger).error('unfinished files not removed', { error }),
  );
  return {
    async start() {
      await reconcile(); // first, so that a start that fails can be tried again
      uploads.start();
      reconciling.start();
      changes.listen(() => reconciling.wake());
    },
    async loaded(mostMs, stopping) {
      const until = steadyMs() + mostMs;
      while (steadyMs() < until && (await isLoading().catch(() => true)))
        await delay(LOADING_PAUSE_MS, undefined, { signal: stopping });
    },
    async stop() {
      await Promise.all([changes.stop(), reconciling.stop(MODELS_GRACE_MS), uploads.stop(UPLOADS_GRACE_MS)]);
      await Promise.all([container.get(ChatRuntimes).close(), container.get(ModelServer).close()]);
      await container.get(InstanceRegistry).leave();
    },
  };
}

/** Removes expired data at the start and about every hour. The pauses are random, so that instances do not coincide. */
export function maintenance(container: Container): Background {
  const pause = () => randomInt(HOUR_MS / 2, HOUR_MS * 1.5);
  const removal = repeat(container, 'removal of expired data', pause, (stopping) =>
    container.get(ExpiredDataService).remove(stopping),
  );
  return { start: async () => removal.start(), stop: () => removal.stop(MAINTENANCE_GRACE_MS) };
}

interface InstanceReporting extends Background {
  /** Reports at once. */
  wake(): void;
}

/** Reports to the other instances what this one is and does. */
export function instanceReporting(container: Container): InstanceReporting {
  const reporter = container.get(InstanceReporter);
  const reporting = repeat(container, 'report of the instance', REPORTS_PAUSE_MS, () => reporter.report());
  return {
    start: async () => reporting.start(),
    wake: () => reporting.wake(),
    async stop() {
      await reporting.stop(REPORTS_GRACE_MS);
      await reporter.leave();
    },
  };
}
