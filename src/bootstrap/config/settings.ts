import { delimiter, resolve } from 'node:path';
import { z } from 'zod';
import { logLevels } from '../../application/operations/ports.js';
import { modelStoreSettings } from './model-store-settings.js';
import {
  address,
  baseAddress,
  engineHosts,
  flag,
  isFolder,
  networks,
  oneOf,
  proxies,
  type Setting,
  secondsOfTime,
  secretText,
  setting,
  webAddress,
  webOrigins,
  whole,
} from './setting.js';
import { siteLoginSettings } from './site-login-settings.js';

export const settings = {
  SERVICE_HOST: setting({
    about: 'Address to listen on. Anything but loopback opens the service to the network.',
    fallback: '127.0.0.1',
    read: z.string().regex(/^\S+$/, { error: 'must be an address or a host name' }),
  }),
  SERVICE_PORT: setting({
    about: 'Port to listen on; 0 takes any free one, which the ready line names.',
    fallback: '8080',
    read: whole(0, 65_535),
  }),
  SERVICE_BASE_URL: setting({
    about: 'The URL under which people reach the service; links in e-mails begin with it.',
    shown: 'the address it listens on',
    read: baseAddress,
  }),
  SERVICE_DATA_DIR: setting({
    about: 'Folder for all that is kept: embedded database, secret, outbox, uploaded models, log.',
    fallback: './data',
    read: z.string().transform((path) => resolve(path)),
  }),
  DATABASE_URL: setting({
    about: 'A PostgreSQL server (15 or newer) to use.',
    shown: 'an embedded PostgreSQL in the data folder',
    secret: true,
    read: address(['postgres:', 'postgresql:'], 'must be a postgres:// URL'),
  }),
  SERVICE_DATABASE_WAIT_S: setting({
    about: 'How long a start waits for a database that is out of reach.',
    fallback: '60',
    read: secondsOfTime(0, 3_600),
  }),
  SERVICE_MODELS_DIR: setting({
    about:
      'Folders that models are served from, separated as in PATH. `models/` in the data folder is always one more.',
    shown: 'the shipped models',
    read: z
      .string()
      .transform((list) =>
        list
          .split(delimiter)
          .filter(Boolean)
          .map((path) => resolve(path)),
      )
      .refine((paths) => paths.every(isFolder), { error: 'must name folders that exist' }),
  }),
  SERVICE_MODEL_UPLOAD_MB: setting({
    about: 'The largest model file that can be uploaded, in units of 1,048,576 bytes.',
    fallback: '4096',
    read: whole(1, 1_048_576),
  }),
  ...modelStoreSettings,
  SERVICE_SECRET: setting({
    about:
      'Seals what is secret in the database: e-mails that wait, invites, webhooks. Instances on one database share it.',
    shown: 'made at the first start and kept in the data folder',
    secret: true,
    read: secretText(16),
  }),
  SERVICE_MASTER_KEY: setting({
    about: 'A credential that acts as an operator without an account.',
    secret: true,
    read: secretText(8),
  }),
  SERVICE_MAX_ACCOUNTS: setting({
    about: 'How many accounts the deployment may have.',
    fallback: '3',
    read: whole(1, 1_000_000),
  }),
  SERVICE_REGISTRATION: setting({
    about:
      '`open`, or `invite`: then the first account is made by `npx tenon create-admin`, or registered with the master key.',
    fallback: 'open',
    read: oneOf(['open', 'invite']),
  }),
  SERVICE_RATE_LIMIT_PER_MIN: setting({
    about: 'How many requests a minute each caller has. Every instance counts for itself.',
    fallback: '120',
    read: whole(1, 1_000_000),
  }),
  SERVICE_RATE_LIMIT_AUTH_PER_MIN: setting({
    about: 'How many of these may be registrations and logins.',
    fallback: '20',
    read: whole(1, 1_000_000),
  }),
  SERVICE_DATASET_VERSIONS: setting({
    about: 'How many versions of a dataset are kept. An update removes older ones.',
    fallback: '200',
    read: whole(1, 1_000_000),
  }),
  SERVICE_BODY_MEMORY_MB: setting({
    about:
      'Memory for all request bodies and datasets that are held at once, parsed ones included, in units of 1,048,576 bytes. Large ones wait, and get 503 `busy` after 5 s.',
    fallback: '96',
    read: whole(1, 1_048_576),
  }),
  SERVICE_TRUST_PROXY: setting({
    about:
      "Reverse proxies whose `X-Forwarded-For` tells the caller's address: addresses, networks, `loopback`, `linklocal` or `uniquelocal`, separated by commas.",
    read: proxies,
  }),
  SERVICE_CORS_ORIGINS: setting({
    about: 'Web origins whose pages may call the API from a browser, separated by commas.',
    read: webOrigins,
  }),
  SERVICE_BCRYPT_COST: setting({
    about: 'How slow a password hash is; one more doubles the time.',
    fallback: '12',
    read: whole(4, 20),
  }),
  SERVICE_PASSWORD_BLOCKLIST: setting({
    about: '`true` refuses the passwords that everybody tries first.',
    fallback: 'false',
    read: flag,
  }),
  ...siteLoginSettings,
  SERVICE_SMTP_URL: setting({
    about: 'Mail server, as smtp:// or smtps:// with user and password where needed.',
    shown: 'each mail becomes an .eml file in `outbox/` in the data folder',
    secret: true,
    read: address(['smtp:', 'smtps:'], 'must be an smtp:// or smtps:// URL'),
  }),
  SERVICE_MAIL_FROM: setting({
    about: 'Sender of the e-mails.',
    fallback: 'Tenon <tenon@localhost>',
    read: z.string().regex(/^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, {
      error: 'must be an address such as "Tenon <tenon@example.com>"',
    }),
  }),
  SERVICE_INFERENCE_TIMEOUT_S: setting({
    about: 'How long a chat call or a prediction may take, its wait in the queue included.',
    fallback: '60',
    read: secondsOfTime(0.1, 3_600),
  }),
  SERVICE_CHAT_QUEUE: setting({
    about: 'How many chat calls may wait for a runtime; one more is refused with `model_busy`.',
    fallback: '32',
    read: whole(0, 10_000),
  }),
  SERVICE_DEPLOYMENT_START_TIMEOUT_S: setting({
    about:
      'How long a new deployment may take until its process has proved its health, or its engine says that the model is ready.',
    fallback: '30',
    read: secondsOfTime(0.1, 3_600),
  }),
  SERVICE_RUNTIME_LOAD_TIMEOUT_S: setting({
    about:
      'How long a chat model may take to load, and how long an engine elsewhere that answers 503 is taken for one that loads.',
    fallback: '120',
    read: secondsOfTime(1, 86_400),
  }),
  SERVICE_RUNTIME_ALLOWED_HOSTS: setting({
    about:
      'Hosts whose engines models and deployments may be connected to: `host`, with each of its ports, or `host:port`, separated by commas.',
    read: engineHosts,
  }),
  SERVICE_WEBHOOK_ALLOW_NETWORKS: setting({
    about:
      'Addresses and networks besides the public internet that webhooks may lead to, also by http://, separated by commas.',
    read: networks,
  }),
  SERVICE_ALERTMANAGER_URL: setting({
    about: 'An Alertmanager that is told of alerts: they fire there until they are acknowledged here.',
    secret: true,
    read: baseAddress,
  }),
  SERVICE_SLACK_WEBHOOK_URL: setting({
    about: 'An incoming webhook of Slack, whose channel is told of alerts and of their acknowledgement.',
    secret: true,
    read: webAddress,
  }),
  SERVICE_SERVING_THREADS: setting({
    about: 'Threads of each model process.',
    fallback: '1',
    read: whole(1, 256),
  }),
  SERVICE_MAX_CHILDREN: setting({
    about:
      'How many model processes an instance may run, runtimes and deployments together. Further starts are refused.',
    fallback: '32',
    read: whole(1, 10_000),
  }),
  SERVICE_READY_WAIT_S: setting({
    about: 'How long a starting instance waits for its models at most before it is ready.',
    fallback: '30',
    read: secondsOfTime(0, 3_600),
  }),
  SERVICE_INSTANCE_NAME: setting({
    about: 'The name of this instance in answers that describe its own processes, and in the log.',
    shown: 'host name; with `DATABASE_URL`, the port too',
    read: z.string().regex(/^[\w.:@-]{1,100}$/, {
      error: 'must be 1 to 100 letters, digits and characters of ".:@_-"',
    }),
  }),
  SERVICE_DRAIN_DELAY_S: setting({
    about: 'How long an ending service serves on while `/health/ready` says 503, for a load balancer to notice.',
    fallback: '0',
    read: secondsOfTime(0, 3_600),
  }),
  SERVICE_SHUTDOWN_TIMEOUT_S: setting({
    about: 'How long the end takes at most, after the drain delay; what is in flight has three fifths of it to finish.',
    fallback: '20',
    read: secondsOfTime(0, 3_600),
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    about:
      'A collector of OpenTelemetry, such as `http://localhost:4318`, which gets traces and metrics. Without it nothing of OpenTelemetry is loaded ([details](monitoring/opentelemetry.md)).',
    secret: true,
    read: baseAddress,
  }),
  SERVICE_LOG_LEVEL: setting({
    about: `Least level of the events in the log: ${logLevels.join(', ')}.`,
    fallback: 'info',
    read: oneOf(logLevels),
  }),
  SERVICE_LOG_FILE: setting({
    about: 'The log, as JSON Lines, rotated at 20 MB.',
    shown: '`tenon.log` in the data folder',
    read: z.string().transform((path) => resolve(path)),
  }),
} satisfies Record<string, Setting>;

/** Prefixes of settings with many names. */
export const settingFamilies = {
  OTEL_: setting({
    about:
      "The other variables of OpenTelemetry's SDK for Node.js, such as `OTEL_SERVICE_NAME` and `OTEL_TRACES_SAMPLER` ([details](monitoring/opentelemetry.md)).",
    secret: true,
    read: z.string(),
  }),
  SERVICE_RUNTIME_KEY_: setting({
    about:
      'The key of an engine, for the model specs and deployments that name this setting as their `key_setting`. As `host=key` or `host:port=key` it is sent to that host only.',
    secret: true,
    read: secretText(1),
  }),
} satisfies Record<string, Setting>;
