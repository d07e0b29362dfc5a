import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from 'inversify';
import { MailDelivery } from '../application/accounts/mail-delivery.js';
import { WebhookDelivery } from '../application/alerts/webhook-delivery.js';
import { CallReaper } from '../application/jobs/call-reaper.js';
import { EVALUATION, EvaluationRunner } from '../application/jobs/evaluation-runner.js';
import { InstanceRegistry } from '../application/jobs/ports.js';
import { Instance } from '../application/shared/instance.js';
import { IdGenerator, WorkQueue } from '../application/shared/ports.js';
import { WinstonLogger } from '../infrastructure/logging/winston-logger.js';
import { SystemClock } from '../infrastructure/system/system-clock.js';
import { GracefulShutdown } from '../interfaces/http/graceful-shutdown.js';
import { createHttpServer, listen } from '../interfaces/http/server.js';
import { PublicAddress } from '../interfaces/web/page-links.js';
import type { Config } from './config/config.js';
import { createContainer } from './container.js';
import { makeDataFolder } from './data-folder.js';
import { connected, embeddedDatabase } from './database.js';
import { Ending, type Later } from './ending.js';
import { httpApp } from './http.js';
import { baseUrlOf, instanceName, openToAll } from './listening.js';
import { startMaintenance } from './maintenance.js';
import { modelsOf } from './models.js';
import { regularly } from './regularly.js';

const MAIL_PAUSE_MS = 500;
const CALLS_PAUSE_MS = 2_000;
const WORK_GRACE_MS = 5_000;
/** Calls in flight may take this share of the shutdown time; the rest is for models and the database. */
const CALLS_SHARE = 0.6;
const LOG_SHARE = 0.05;
/** A start that is given up may take so much until it notices. */
const START_SHARE = 0.25;

export interface App {
  /** The URL on which this instance listens. */
  readonly url: string;
  /** Finishes what is in flight, ends the children and closes the database. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** May put other adapters behind ports before anything is made. */
  readonly adapt?: (container: Container) => void;
  /** Aborted when the start is to be given up. */
  readonly stopping?: AbortSignal;
}

/** Starts the whole service; rejects with what to do about it where it cannot, and leaves nothing running then. */
export async function startApp(config: Config, options: StartOptions = {}): Promise<App> {
  makeDataFolder(config);
  const log = new WinstonLogger({ file: config.logFile, level: config.logLevel, stderr: true }, new SystemClock());
  const ending = new Ending();
  const end = async (mostMs: number) => {
    try {
      const left = await ending.within(mostMs);
      // It ends with the process: models, and an embedded database, see that this is gone.
      if (left.length > 0) log.warn('the end was cut short', { left });
    } finally {
      await log.close();
    }
  };
  const wholeMs = config.shutdownTimeoutMs * (1 - LOG_SHARE);
  const startMs = config.shutdownTimeoutMs * START_SHARE;
  try {
    const starting = start(config, log, options, ending.later);
    const { url, announce } = await Promise.race([starting, givenUp(startMs, options.stopping)]);
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

/** Rejects where a start that is to be given up goes on for so long, whatever it waits for. */
const givenUp = (ms: number, stopping?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const late = () => setTimeout(() => reject(new Error('the start was given up')), ms).unref();
    stopping?.addEventListener('abort', late, { once: true });
  });

interface Started {
  readonly url: string;
  /** Tells whoever asks that this process ends, and serves on for a while. */
  readonly announce: () => Promise<void>;
}

async function start(
  config: Config,
  log: WinstonLogger,
  { adapt, stopping }: StartOptions,
  later: Later,
): Promise<Started> {
  if (config.unknown.length > 0) log.warn('unknown settings are ignored', { names: config.unknown });

  const databaseUrl = config.databaseUrl ?? (await embeddedDatabase(config, log, later));
  const database = await connected(databaseUrl, config.databaseWaitMs, log, stopping);
  stopping?.throwIfAborted();
  later('the connections to the database', () => database.destroy());

  const container = createContainer({ config, database, logger: log });
  adapt?.(container);
  await container.get(InstanceRegistry).own();
  const models = modelsOf(container, config.uploadFolder);
  later('models', () => models.stop());
  const mail = regularly(container, 'mail sender', MAIL_PAUSE_MS, (stopping) =>
    container.get(MailDelivery).deliverDue(stopping),
  );
  const calls = regularly(container, 'tracking of calls', CALLS_PAUSE_MS, () => container.get(CallReaper).execute());
  const queue = container.get(WorkQueue);
  container.get(WebhookDelivery).register();
  queue.register(EVALUATION, container.get(EvaluationRunner));
  const work = [queue, calls, mail];
  later('background work', (graceMs) => Promise.all(work.map((one) => one.stop(graceMs))), WORK_GRACE_MS);

  const shutdown = container.get(GracefulShutdown);
  const app = httpApp(container, config);
  const server = createHttpServer(app, () => container.get(IdGenerator).next('req'));
  const port = await listen(server, config.host, config.port);
  const endCalls = (graceMs: number) => shutdown.drain(server, graceMs);
  later('calls', endCalls, config.shutdownTimeoutMs * CALLS_SHARE);
  const announce = async () => {
    if (config.drainDelayMs === 0) return;
    shutdown.announce();
    await delay(config.drainDelayMs);
  };
  const url = baseUrlOf(config.host, port);
  const instance = container.get(Instance);
  instance.name = instanceName(config, port);
  container.get(PublicAddress).baseUrl = config.baseUrl ?? url;
  if (openToAll(config)) {
    const command = 'npx tenon create-admin --email ADDRESS --name NAME';
    const remedy = `set SERVICE_REGISTRATION=invite and make the first admin with "${command}"`;
    log.warn('anyone who reaches this address can register', { url, remedy });
  }
  mail.start();
  calls.start();
  later('maintenance', startMaintenance(container));
  await queue.start();
  await models.start();
  log.info('ready', { url, pid: process.pid, instance: instance.name });
  return { url, announce };
}
