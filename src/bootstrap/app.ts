import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IdentifyCaller } from '../application/access/identify-caller.js';
import { PostAlerts } from '../application/alerts/post-alerts.js';
import { EVALUATION, RunEvaluation } from '../application/evaluations/run-evaluation.js';
import { LivingProcesses } from '../application/jobs/ports/living-processes.js';
import { TendCalls } from '../application/jobs/tend-calls.js';
import { DeliverMail } from '../application/mail/deliver-mail.js';
import { AnswerProcesses } from '../application/processes/answer-processes.js';
import { Clock } from '../application/shared/ports/clock.js';
import { CurrentRequest } from '../application/shared/ports/current-request.js';
import { Identifiers } from '../application/shared/ports/identifiers.js';
import type { Log } from '../application/shared/ports/log.js';
import { WorkQueue } from '../application/shared/ports/work-queue.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../infrastructure/embedded-postgres/embedded-postgres.js';
import { WinstonLog } from '../infrastructure/logging/winston-log.js';
import { PrometheusMetrics } from '../infrastructure/prometheus/prometheus-metrics.js';
import { SystemClock } from '../infrastructure/system/system-clock.js';
import { boundWaits, createDataSource, type DataSource } from '../infrastructure/typeorm/data-source.js';
import { migrate } from '../infrastructure/typeorm/migrate.js';
import { asRefusal, asStorageUnavailable } from '../infrastructure/typeorm/storage-errors.js';
import { CredentialsController } from '../interfaces/http/access/credentials.controller.js';
import { AccountsController } from '../interfaces/http/accounts/accounts.controller.js';
import { PasswordsController } from '../interfaces/http/accounts/passwords.controller.js';
import { TeamController } from '../interfaces/http/accounts/team.controller.js';
import { AlertRulesController } from '../interfaces/http/alerts/alert-rules.controller.js';
import { AlertsController } from '../interfaces/http/alerts/alerts.controller.js';
import { WebhooksController } from '../interfaces/http/alerts/webhooks.controller.js';
import { AuditController } from '../interfaces/http/audit/audit.controller.js';
import { CompletionsController } from '../interfaces/http/chat/completions.controller.js';
import { ConversationsController } from '../interfaces/http/chat/conversations.controller.js';
import { RuntimeController } from '../interfaces/http/chat/runtime.controller.js';
import type { Controller } from '../interfaces/http/contract.js';
import { DeploymentsController } from '../interfaces/http/deployments/deployments.controller.js';
import { ModelFilesController } from '../interfaces/http/deployments/model-files.controller.js';
import { Drain } from '../interfaces/http/drain.js';
import { EvaluationsController } from '../interfaces/http/evaluations/evaluations.controller.js';
import { createHttpApp } from '../interfaces/http/http-app.js';
import { HttpServer } from '../interfaces/http/http-server.js';
import { JobsController } from '../interfaces/http/jobs/jobs.controller.js';
import { HealthController } from '../interfaces/http/operations/health.controller.js';
import { LogsController } from '../interfaces/http/operations/logs.controller.js';
import { MetricsController } from '../interfaces/http/operations/metrics.controller.js';
import { StatusController } from '../interfaces/http/operations/status.controller.js';
import { DatasetVersionsController } from '../interfaces/http/workspace/dataset-versions.controller.js';
import { DatasetsController } from '../interfaces/http/workspace/datasets.controller.js';
import { ModelAliasesController } from '../interfaces/http/workspace/model-aliases.controller.js';
import { ModelVersionsController } from '../interfaces/http/workspace/model-versions.controller.js';
import { ModelsController } from '../interfaces/http/workspace/models.controller.js';
import { ProjectsController } from '../interfaces/http/workspace/projects.controller.js';
import { StartersController } from '../interfaces/http/workspace/starters.controller.js';
import type { Config } from './config/config.js';
import { Parts, PEER_GRACE_MS } from './container.js';
import { makeDataFolder } from './data-folder.js';
import { keepHouse } from './keep-house.js';
import { baseUrlOf, identityOf, openToAll } from './listening.js';
import { modelsOf } from './models.js';
import type { Source } from './provide.js';
import { regularly } from './regularly.js';
import { ProcessKeys } from './tokens.js';

const controllers: readonly Source<Controller>[] = [
  CompletionsController,
  AccountsController,
  PasswordsController,
  TeamController,
  CredentialsController,
  StartersController,
  ProjectsController,
  DatasetsController,
  DatasetVersionsController,
  ModelsController,
  ModelVersionsController,
  ModelAliasesController,
  RuntimeController,
  ConversationsController,
  EvaluationsController,
  JobsController,
  AlertRulesController,
  AlertsController,
  WebhooksController,
  LogsController,
  AuditController,
  DeploymentsController,
  ModelFilesController,
  StatusController,
  MetricsController,
  HealthController,
];

const MAIL_PAUSE_MS = 500;
const MAIL_GRACE_MS = 2_000;
const CALLS_PAUSE_MS = 2_000;
const CALLS_GRACE_MS = 2_000;
const TASKS_GRACE_MS = 5_000;
/** What another process may take, besides the time that its model may take. */
const CONNECT_PAUSE_MS = 500;

export interface App {
  /** Where this process listens. */
  readonly url: string;
  /** Finishes what is in flight, ends the children and closes the database. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** May put other adapters behind ports before anything is made. */
  readonly adapt?: (parts: Parts) => void;
  /** Aborted when the start is to be given up. */
  readonly stopping?: AbortSignal;
}

/** Starts the whole service; rejects with what to do about it where it cannot, and leaves nothing running then. */
export async function startApp(config: Config, options: StartOptions = {}): Promise<App> {
  const ending: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    const failures: unknown[] = [];
    for (const end of ending.splice(0).reverse()) await end().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const url = await start(config, options, (end) => ending.push(end));
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Later = (end: () => Promise<unknown>) => void;

async function start(config: Config, { adapt, stopping }: StartOptions, later: Later): Promise<string> {
  makeDataFolder(config);
  const log = new WinstonLog({ file: config.logFile, level: config.logLevel, stderr: true }, new SystemClock());
  later(() => log.close());
  if (config.unknown.length > 0) log.warn('unknown settings are ignored', { names: config.unknown });

  const databaseUrl = config.databaseUrl ?? (await embedded(config, log, later)).url;
  const database = await connected(databaseUrl, config.databaseWaitMs, log, stopping);
  stopping?.throwIfAborted();
  later(() => database.destroy());

  const address = { baseUrl: '' };
  const parts = new Parts({ config, database, log, address });
  adapt?.(parts);
  const processes = parts.get(LivingProcesses);
  const number = await processes.own();
  const models = modelsOf(parts, config.uploadFolder);
  later(() => models.stop());
  const mail = regularly(parts, 'mail sender', MAIL_PAUSE_MS, (stopping) => parts.get(DeliverMail).execute(stopping));
  later(() => mail.stop(MAIL_GRACE_MS));

  const calls = regularly(parts, 'tracking of calls', CALLS_PAUSE_MS, () => parts.get(TendCalls).execute());
  later(() => calls.stop(CALLS_GRACE_MS));

  const queue = parts.get(WorkQueue);
  parts.get(PostAlerts).register();
  queue.register(EVALUATION, parts.get(RunEvaluation));
  later(() => queue.stop(TASKS_GRACE_MS));

  const drain = parts.get(Drain);
  const ids = parts.get(Identifiers);
  const listener = createHttpApp({
    controllers: controllers.map((controller) => parts.get(controller)),
    identifyCaller: parts.get(IdentifyCaller),
    requests: parts.get(CurrentRequest),
    clock: parts.get(Clock),
    translate: asRefusal,
    limits: config.rateLimits,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    peers: {
      number,
      answer: parts.get(AnswerProcesses),
      keyOf: parts.get(ProcessKeys),
      urlOf: async (process) => {
        const [missing] = await processes.missing([process]);
        return missing === undefined ? ((await processes.identity(process))?.url ?? null) : null;
      },
      timeoutMs: config.inferenceTimeoutMs + PEER_GRACE_MS,
    },
    drain,
    ids,
    log,
    watch: parts.get(PrometheusMetrics),
    boundWaits: boundWaits(databaseUrl),
  });
  const server = new HttpServer(listener, () => ids.next('req'));
  const port = await server.listen(config.host, config.port);
  later(async () => {
    if (config.drainDelayMs > 0) {
      drain.announce();
      server.sendAway();
      await delay(config.drainDelayMs);
    }
    drain.begin();
    await server.drain(config.shutdownTimeoutMs);
  });
  const url = baseUrlOf(config.host, port);
  address.baseUrl = config.baseUrl ?? url;
  if (openToAll(config)) {
    const command = 'npx tenon create-admin --email ADDRESS --name NAME';
    const remedy = `set SERVICE_REGISTRATION=invite and make the first admin with "${command}"`;
    log.warn('anyone who reaches this address can register', { url, remedy });
  }
  mail.start();
  calls.start();
  later(keepHouse(parts));
  await queue.start();
  const identity = identityOf(config, port);
  await processes.introduce(identity);
  await models.start();
  log.info('ready', { url, pid: process.pid, process: identity.name });
  return url;
}

async function embedded(config: Config, log: WinstonLog, later: Later): Promise<EmbeddedPostgres> {
  const folder = join(config.dataDir, 'postgres');
  const server = await startEmbeddedPostgres({ folder, log: (line) => log.info('postgres', { line }) });
  later(() => server.stop());
  return server;
}

/** Waits for a database that is out of reach, then brings its tables up to date and opens the pool. */
async function connected(url: string, waitMs: number, log: Log, stopping?: AbortSignal): Promise<DataSource> {
  const { host, pathname } = new URL(url);
  const clock = new SystemClock();
  const deadline = clock.now().getTime() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      await migrate(url);
      return await createDataSource(url).initialize();
    } catch (error) {
      const waiting = asStorageUnavailable(error) !== error && clock.now().getTime() < deadline;
      if (waiting) {
        if (attempt === 1) log.warn('waiting for the database', { host, most_ms: waitMs });
        await delay(CONNECT_PAUSE_MS, undefined, { signal: stopping });
      } else
        throw new Error(`the database ${host}${pathname} (DATABASE_URL) cannot be used: ${(error as Error).message}`);
    }
  }
}
