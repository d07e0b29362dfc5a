import 'reflect-metadata';
import { join } from 'node:path';
import { Container } from 'inversify';
import {
  AccountRepository,
  Mailer,
  MasterKey,
  PageLinks,
  PasswordBlocklist,
  PasswordHasher,
  SecretTokens,
  SiteTokenVerifier,
} from '../application/accounts/ports.js';
import { AlertAnnouncer } from '../application/alerts/alert-announcer.js';
import { AlertNotifier, AlertRepository, WebhookRepository, WebhookSender } from '../application/alerts/ports.js';
import { Breakers } from '../application/chat/breakers.js';
import { ChatEngine, ChatRuntimes } from '../application/chat/ports.js';
import { ModelFileResolver, ModelFileStore, ModelServer } from '../application/deployments/ports.js';
import { LogTail, Metrics, RateLimitStore, ServiceProcess } from '../application/operations/ports.js';
import { Masker } from '../application/record/ports.js';
import { MemoryBudget } from '../application/shared/memory-budget.js';
import {
  Chance,
  Clock,
  IdGenerator,
  JsonSchemas,
  Logger,
  RequestContext,
  ServiceSettings,
  Tracer,
} from '../application/shared/ports.js';
import { SpendMeter } from '../application/spend/spend-meter.js';
import { ContentHasher, StarterCatalog } from '../application/workspace/ports.js';
import { CallTelemetry } from '../infrastructure/chat-runtimes/call-telemetry.js';
import { ChatRuntimesByEngine } from '../infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { ChildLimits } from '../infrastructure/child-process/child-limits.js';
import { JoseSiteTokenVerifier } from '../infrastructure/crypto/jose-site-token-verifier.js';
import { BcryptPasswordHasher, CommonPasswordBlocklist } from '../infrastructure/crypto/passwords.js';
import { CheckedTokens, ConfiguredMasterKey } from '../infrastructure/crypto/secrets.js';
import { Sha256ContentHasher } from '../infrastructure/crypto/sha256-content-hasher.js';
import { keptSecret } from '../infrastructure/files/data-folder.js';
import { JsonStarterCatalog } from '../infrastructure/files/json-starter-catalog.js';
import { AnswerReader } from '../infrastructure/http-engine/answer-reader.js';
import { AjvJsonSchemas } from '../infrastructure/json-schema/ajv-json-schemas.js';
import { FileLogTail } from '../infrastructure/logging/file-log-tail.js';
import { Re2Masker } from '../infrastructure/masking/re2-masker.js';
import { LocalModelServer } from '../infrastructure/model-server/local-model-server.js';
import { ModelServerByKind } from '../infrastructure/model-server/model-server-by-kind.js';
import { RemoteModelServer } from '../infrastructure/model-server/remote/remote-model-server.js';
import { AlertmanagerNotifier } from '../infrastructure/notifiers/alertmanager-notifier.js';
import { MailNotifier } from '../infrastructure/notifiers/mail-notifier.js';
import { SlackNotifier } from '../infrastructure/notifiers/slack-notifier.js';
import { WebhookNotifier } from '../infrastructure/notifiers/webhook-notifier.js';
import { OnnxChatEngine } from '../infrastructure/onnx-chat/onnx-chat-engine.js';
import { OpenAiChatEngine } from '../infrastructure/openai/openai-chat-engine.js';
import {
  announcementMetrics,
  backlogMetrics,
  chatMetrics,
  deploymentMetrics,
  hashingMetrics,
  poolMetrics,
  spendMetrics,
} from '../infrastructure/prometheus/metric-sources.js';
import { PrometheusMetrics } from '../infrastructure/prometheus/prometheus-metrics.js';
import { MemoryRateLimitStore } from '../infrastructure/rate-limit/memory-rate-limit-store.js';
import { FolderMailer, SmtpMailer } from '../infrastructure/smtp/mailers.js';
import {
  AsyncRequestContext,
  NodeProcess,
  SystemChance,
  SystemClock,
  UuidIdGenerator,
} from '../infrastructure/system/adapters.js';
import { DataSource } from '../infrastructure/typeorm/data-source.js';
import { poolLoad, readBacklog } from '../infrastructure/typeorm/operations/operations.js';
import { TypeOrmUnitOfWork } from '../infrastructure/typeorm/typeorm-unit-of-work.js';
import { AddressGuard, HttpWebhookSender } from '../infrastructure/webhooks/http-webhook-sender.js';
import { alertFired } from '../interfaces/http/alerts/webhooks.controller.js';
import { bodyLimits } from '../interfaces/http/body.js';
import { version } from '../interfaces/version.js';
import { BaseUrlPageLinks } from '../interfaces/web/page-links.js';
import type { Config } from './config/config.js';
import { shippedProgram } from './config/shipped.js';
import { localModels, type ModelStorage } from './model-storage.js';
import { bindSharedRateLimits } from './rate-limits.js';
import { bindStorage } from './storage.js';
import { noTelemetry, type Telemetry } from './telemetry.js';

/** Milliseconds that a chat worker may take to end by itself before it is killed. A stop must end it within 5 s. */
const STOP_GRACE_MS = 2_500;

export interface Foundations {
  readonly config: Config;
  readonly database: DataSource;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
  /** Default: the models folders. */
  readonly models?: ModelStorage;
}

/**
 * Creates the container. A class needs no binding: inversify creates one object of it from the types of its
 * constructor. The bindings below state only the adapter behind each port, and the values that come from the settings.
 */
export function createContainer({
  config,
  database,
  logger,
  telemetry = noTelemetry,
  models = localModels(config),
}: Foundations): Container {
  const container = new Container({ autobind: true, defaultScope: 'Singleton' });
  const secret = config.secret ?? keptSecret(config.dataDir);
  container.bind(Logger).toConstantValue(logger);
  container.bind(Tracer).toConstantValue(telemetry.tracer);
  container.bind(ServiceSettings).toConstantValue(serviceSettings(config));
  container.bind(MemoryBudget).toConstantValue(new MemoryBudget(config.bodyMemoryBytes));
  bindStorage(container, database, secret);
  bindShared(container);
  const hasher = new BcryptPasswordHasher(config.bcryptCost);
  bindAccounts(container, config, hasher);
  bindWorkspace(container, config);
  bindRecord(container);
  const children = new ChildLimits(config.maxChildren);
  bindChat(container, config, children, telemetry);
  bindDeployments(container, config, models, children);
  bindAlerts(container, config);
  bindOperations(container, config, hasher);
  if (config.rateLimitStore === 'database') bindSharedRateLimits(container, secret);
  return container;
}

/** Selects the settings that services need. Services must not hold secrets. */
const serviceSettings = (config: Config): ServiceSettings => ({
  maxAccounts: config.maxAccounts,
  registration: config.registration,
  linkSiteLogins: config.linkSiteLogins,
  datasetRecords: config.datasetRecords,
  datasetVersions: config.datasetVersions,
  datasetBytes: config.datasetBytes,
  inferenceTimeoutMs: config.inferenceTimeoutMs,
  responseKeptMs: config.responseKeptMs,
  modelUploadBytes: config.modelUploadBytes,
  currency: config.currency,
  quotas: config.quotas,
});

function bindShared(container: Container): void {
  container.bind(Clock).to(SystemClock);
  container.bind(IdGenerator).to(UuidIdGenerator);
  container.bind(Chance).to(SystemChance);
  container.bind(SecretTokens).to(CheckedTokens);
  container.bind(RequestContext).to(AsyncRequestContext);
}

function bindAccounts(container: Container, config: Config, hasher: BcryptPasswordHasher): void {
  container.bind(Mailer).toConstantValue(mailerOf(config));
  container.bind(MasterKey).toConstantValue(new ConfiguredMasterKey(config.masterKey));
  container.bind(PasswordHasher).toConstantValue(hasher);
  container.bind(PasswordBlocklist).toConstantValue(new CommonPasswordBlocklist(config.passwordBlocklist));
  container.bind(SiteTokenVerifier).toConstantValue(new JoseSiteTokenVerifier(config.siteTokens));
  container.bind(PageLinks).to(BaseUrlPageLinks);
}

function mailerOf(config: Config): Mailer {
  if (config.smtpUrl) return new SmtpMailer(config.smtpUrl, config.mailFrom);
  return new FolderMailer(join(config.dataDir, 'outbox'), config.mailFrom);
}

function bindWorkspace(container: Container, config: Config): void {
  container.bind(StarterCatalog).toConstantValue(new JsonStarterCatalog(config.startersFolder));
  container.bind(ContentHasher).to(Sha256ContentHasher);
}

function bindRecord(container: Container): void {
  const masker = new Re2Masker(shippedProgram('infrastructure/masking/masking-thread.js'));
  container.bind(Re2Masker).toConstantValue(masker);
  container.bind(Masker).toConstantValue(masker);
}

function bindChat(container: Container, config: Config, children: ChildLimits, telemetry: Telemetry): void {
  const limits = {
    timeoutMs: config.inferenceTimeoutMs,
    loadTimeoutMs: config.runtimeLoadTimeoutMs,
    queue: config.chatQueue,
  };
  const workers = {
    ...limits,
    worker: shippedProgram('infrastructure/onnx-chat/worker/main.js'),
    threads: config.servingThreads,
    stopGraceMs: STOP_GRACE_MS,
    children,
  };
  const schemas = new AjvJsonSchemas(shippedProgram('infrastructure/json-schema/schema-thread.js'));
  const answers = new AnswerReader(shippedProgram('infrastructure/http-engine/answer-thread.js'));
  const elsewhere = { ...limits, ...config.upstream, schemas, answers, tracer: telemetry.tracer };
  container.bind(JsonSchemas).toConstantValue(schemas);
  container
    .bind(ChatEngine)
    .toResolvedValue(
      (files, ids, clock, logger) => new OnnxChatEngine(workers, files, schemas, ids, clock, logger),
      [ModelFileResolver, IdGenerator, Clock, Logger],
    );
  container
    .bind(ChatEngine)
    .toResolvedValue((clock, logger) => new OpenAiChatEngine(elsewhere, clock, logger), [Clock, Logger]);
  container.bind(CallTelemetry).toConstantValue(telemetry.calls);
  container.bind(ChatRuntimes).to(ChatRuntimesByEngine);
}

function bindDeployments(container: Container, config: Config, models: ModelStorage, children: ChildLimits): void {
  const translation = shippedProgram('infrastructure/model-server/remote/translation-thread.js');
  const settings = {
    program: shippedProgram('infrastructure/model-server/process/main.js'),
    threads: config.servingThreads,
    bodyLimit: bodyLimits.prediction,
    startTimeoutMs: config.deploymentStartTimeoutMs,
    inferenceTimeoutMs: config.inferenceTimeoutMs,
    children,
  };
  container.bind(ModelFileResolver).toConstantValue(models.resolver);
  container.bind(ModelServer).toResolvedValue(
    (logger) =>
      new ModelServerByKind({
        local: new LocalModelServer(settings, models.resolver, logger),
        remote: new RemoteModelServer({ ...settings, ...config.upstream, translation }, logger),
      }),
    [Logger],
  );
  container.bind(ModelFileStore).toConstantValue(models.files);
}

function bindAlerts(container: Container, config: Config): void {
  const { alertmanagerUrls, slackUrl } = config;
  container.bind(AlertNotifier).to(MailNotifier);
  container
    .bind(AlertNotifier)
    .toResolvedValue(
      (webhooks, sender, clock) => new WebhookNotifier(alertFired, webhooks, sender, clock),
      [WebhookRepository, WebhookSender, Clock],
    );
  if (alertmanagerUrls)
    container
      .bind(AlertNotifier)
      .toResolvedValue((links, clock) => new AlertmanagerNotifier(alertmanagerUrls, links, clock), [PageLinks, Clock]);
  if (slackUrl)
    container
      .bind(AlertNotifier)
      .toResolvedValue(
        (accounts, alerts, links, clock) => new SlackNotifier(slackUrl, accounts, alerts, links, clock),
        [AccountRepository, AlertRepository, PageLinks, Clock],
      );
  const guard = new AddressGuard(config.webhookNetworks);
  container.bind(WebhookSender).toResolvedValue((tracer) => new HttpWebhookSender(guard, undefined, tracer), [Tracer]);
}

function bindOperations(container: Container, config: Config, hasher: BcryptPasswordHasher): void {
  container.bind(ServiceProcess).toConstantValue(new NodeProcess(version));
  container.bind(RateLimitStore).to(MemoryRateLimitStore);
  container.bind(LogTail).toConstantValue(new FileLogTail(config.logFile));
  container.bind(Metrics).toService(PrometheusMetrics);
  container
    .bind(PrometheusMetrics)
    .toResolvedValue(
      (database, unitOfWork, servers, runtimes, breakers, announcer, meter) =>
        new PrometheusMetrics([
          hashingMetrics(() => hasher.load),
          poolMetrics(() => poolLoad(database)),
          backlogMetrics(() => readBacklog(unitOfWork)),
          deploymentMetrics(servers),
          chatMetrics(runtimes, breakers),
          announcementMetrics(announcer),
          spendMetrics(meter, config.currency),
        ]),
      [DataSource, TypeOrmUnitOfWork, ModelServer, ChatRuntimes, Breakers, AlertAnnouncer, SpendMeter],
    );
}
