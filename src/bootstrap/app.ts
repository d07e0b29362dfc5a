import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from 'inversify';
import { InstanceRegistry } from '../application/jobs/ports.js';
import { Instance } from '../application/shared/instance.js';
import { WinstonLogger } from '../infrastructure/logging/winston-logger.js';
import { Re2Masker } from '../infrastructure/masking/re2-masker.js';
import { PrometheusMetrics } from '../infrastructure/prometheus/prometheus-metrics.js';
import { SystemClock } from '../infrastructure/system/adapters.js';
import { GracefulShutdown, listen } from '../interfaces/http/server.js';
import { PublicAddress } from '../interfaces/web/page-links.js';
import { backgroundWork, instanceReporting, maintenance, modelReconciliation } from './background.js';
import type { Config } from './config/config.js';
import { createContainer } from './container.js';
import { connected, embeddedDatabase, makeDataFolder, patience } from './database.js';
import { baseUrlOf, httpApp, httpServer, instanceName, openToAll } from './http.js';
import { modelStorage } from './model-storage.js';
import { rateLimitReports } from './rate-limits.js';
import { type AddStep, ShutdownSteps } from './shutdown-steps.js';
import { runningFields, startTelemetry } from './telemetry.js';

const WORK_GRACE_MS = 5_000;
const TELEMETRY_GRACE_MS = 3_000;
const RATE_LIMITS_GRACE_MS = 1_000;
/** The share of the shutdown timeout in which the calls in flight must finish. */
const CALLS_SHARE = 0.6;
/** The share of the shutdown timeout that is kept to close the log. */
const LOG_SHARE = 0.05;
/** The share of the shutdown timeout in which an aborted start must stop. */
const START_SHARE = 0.25;

export interface App {
  /** The URL of this instance. */
  readonly url: string;
  /** Drains the calls in flight, stops the child processes and closes the database. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Changes bindings of the container before anything is resolved. */
  readonly adapt?: (container: Container) => void;
  /** Aborts the start. */
  readonly stopping?: AbortSignal;
}

/** Starts the service. After a failure, stops everything that was started and throws an error that says what to do. */
export async function startApp(config: Config, options: StartOptions = {}): Promise<App> {
  makeDataFolder(config);
  const { logFile: file, logLevel: level } = config;
  const log = new WinstonLogger({ file, level, stderr: true }, new SystemClock(), runningFields);
  const steps = new ShutdownSteps();
  const end = async (mostMs: number) => {
    try {
      const left = await steps.within(mostMs);
      // Child processes and the embedded database end by themselves after this process has ended.
      if (left.length > 0) log.warn('the shutdown was cut short', { left });
    } finally {
      await log.close();
    }
  };
  const wholeMs = config.shutdownTimeoutMs * (1 - LOG_SHARE);
  const startMs = config.shutdownTimeoutMs * START_SHARE;
  try {
    const starting = start(config, log, options, steps.add);
    const { url, announce } = await Promise.race([starting, abortedStart(startMs, options.stopping)]);
    const stop = async () => {
      await announce();
      await end(wholeMs);
    };
    return { url, stop };
  } catch (error) {
    await end(wholeMs - startMs);
    throw error;
  }
}

/** Rejects `ms` milliseconds after `stopping` has aborted. */
const abortedStart = (ms: number, stopping?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const rejectLater = () => setTimeout(() => reject(new Error('the start was aborted')), ms).unref();
    stopping?.addEventListener('abort', rejectLater, { once: true });
  });

interface Started {
  readonly url: string;
  /** Reports not ready, and continues to serve during the drain delay. */
  readonly announce: () => Promise<void>;
}

async function start(
  config: Config,
  log: WinstonLogger,
  { adapt, stopping }: StartOptions,
  addStep: AddStep,
): Promise<Started> {
  if (config.unknown.length > 0) log.warn('unknown settings are ignored', { names: config.unknown });

  const telemetry = await startTelemetry(config, log);
  addStep('telemetry', (graceMs) => telemetry.stop(graceMs), TELEMETRY_GRACE_MS);
  const databaseUrl = config.databaseUrl ?? (await embeddedDatabase(config, log, addStep));
  const patiently = patience(databaseUrl, config.databaseWaitMs, log, stopping);
  const database = await connected(databaseUrl, patiently, telemetry.tracer);
  stopping?.throwIfAborted();
  addStep('database connections', () => database.destroy());

  const models = await modelStorage(config, { instances: () => container.get(InstanceRegistry) });
  const container: Container = createContainer({ config, database, logger: log, telemetry, models });
  addStep('masker', () => container.get(Re2Masker).close());
  adapt?.(container);
  telemetry.export(() => container.get(PrometheusMetrics).snapshots());
  await patiently(() => container.get(InstanceRegistry).own());
  const reporting = instanceReporting(container);
  addStep('report of the instance', reporting.stop); // ends late, so that others see the whole drain
  const reconciliation = modelReconciliation(container, models.removeUnfinished);
  addStep('models', reconciliation.stop);
  const work = backgroundWork(container);
  addStep('background work', work.stop, WORK_GRACE_MS);

  const reports = rateLimitReports(container);
  addStep('rate limits', reports.stop, RATE_LIMITS_GRACE_MS);
  await reports.start();

  const shutdown = container.get(GracefulShutdown);
  const app = httpApp(container, config);
  const server = httpServer(app, container, config);
  const instance = container.get(Instance);
  instance.loading = true;
  const port = await listen(server, config.host, config.port);
  server.on('error', (error) => log.error('the HTTP server failed', { error }));
  addStep('calls', (graceMs) => shutdown.drain(server, graceMs), config.shutdownTimeoutMs * CALLS_SHARE);
  const announce = async () => {
    shutdown.notReady();
    instance.draining = true;
    reporting.wake();
    // Without a delay, connections stay open: new connections of callers would be reset when listening ends.
    if (config.drainDelayMs === 0) return;
    shutdown.announce();
    await delay(config.drainDelayMs);
  };
  const url = baseUrlOf(config.host, port);
  instance.name = instanceName(config, port);
  container.get(PublicAddress).baseUrl = config.baseUrl ?? url;
  if (openToAll(config)) {
    const command = 'npx tenon create-admin --email ADDRESS --name NAME';
    const remedy = `set SERVICE_REGISTRATION=invite and make the first admin with "${command}"`;
    log.warn('anyone who reaches this address can register', { url, remedy });
  }
  await reporting.start();
  const upkeep = maintenance(container);
  addStep('maintenance', upkeep.stop);
  await upkeep.start();
  await work.start();
  await patiently(reconciliation.start);
  await reconciliation.loaded(config.readyWaitMs, stopping);
  instance.loading = false;
  reporting.wake();
  log.info('ready', { url, pid: process.pid, instance: instance.name });
  return { url, announce };
}
