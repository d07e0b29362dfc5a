import { resolve } from 'node:path';
import { z } from 'zod';
import { logLevels } from '../../application/operations/ports.js';
import { MOST_RECORDS } from '../../domain/workspace/dataset-import.js';
import { modelStoreSettings } from './model-store-settings.js';
import { quotaSettings } from './quota-settings.js';
import { rateLimitSettings } from './rate-limit-settings.js';
import {
  address,
  baseAddress,
  baseAddresses,
  engineHosts,
  flag,
  folders,
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
    about: 'The address to listen on. Any address except loopback opens the service to the network.',
    fallback: '127.0.0.1',
    read: z.string().regex(/^\S+$/, { error: 'must be an address or a host name' }),
  }),
  SERVICE_PORT: setting({
    about: 'The port to listen on. With 0, the service takes a free port and prints it in its `ready` line.',
    fallback: '8080',
    read: whole(0, 65_535),
  }),
  SERVICE_BASE_URL: setting({
    about: 'The URL that people use for the service. Links in e-mails begin with it.',
    shown: 'the address that the service listens on',
    read: baseAddress,
  }),
  SERVICE_DATA_DIR: setting({
    about: 'The folder for all data: embedded database, secret, outbox, uploaded models, log.',
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
    about: 'The seconds that a start waits for a database that is out of reach.',
    fallback: '60',
    read: secondsOfTime(0, 3_600),
  }),
  SERVICE_MODELS_DIR: setting({
    about: 'Folders with models, separated as in PATH. `models/` in the data folder is always added.',
    shown: 'the shipped models',
    read: folders,
  }),
  SERVICE_MODEL_UPLOAD_MB: setting({
    about: 'The largest model file that can be uploaded, in units of 1,048,576 bytes.',
    fallback: '4096',
    read: whole(1, 1_048_576),
  }),
  ...modelStoreSettings,
  SERVICE_SECRET: setting({
    about:
      'Seals secret data in the database: waiting e-mails, invites, webhooks. All instances on one database need the same.',
    shown: 'created at the first start and stored in the data folder',
    secret: true,
    read: secretText(16),
  }),
  SERVICE_MASTER_KEY: setting({
    about: 'A credential that acts as an operator without an account.',
    secret: true,
    read: secretText(8),
  }),
  SERVICE_MAX_ACCOUNTS: setting({
    about: 'The maximum number of accounts.',
    fallback: '3',
    read: whole(1, 1_000_000),
  }),
  SERVICE_REGISTRATION: setting({
    about:
      '`open`: anyone can register. `invite`: an account needs an invite; `npx tenon create-admin` creates the first account, or it is registered with the master key.',
    fallback: 'open',
    read: oneOf(['open', 'invite']),
  }),
  ...rateLimitSettings,
  SERVICE_CURRENCY: setting({
    about: 'The currency of all prices and costs, as three letters. A change of it converts nothing.',
    fallback: 'USD',
    read: z.string().regex(/^[A-Z]{3}$/, { error: 'must be three capital letters, such as USD' }),
  }),
  SERVICE_DATASET_RECORDS: setting({
    about: 'The number of records that a dataset may have.',
    fallback: '500',
    read: whole(1, MOST_RECORDS),
  }),
  SERVICE_DATASET_IMPORT_MB: setting({
    about:
      'The largest body of an import or an update of a dataset, in units of 1,048,576 bytes. The records of a dataset may have 3.2 times as much as JSON.',
    fallback: '5',
    read: whole(1, 600),
  }),
  SERVICE_DATASET_VERSIONS: setting({
    about: 'The number of stored versions of a dataset. An update removes older versions.',
    fallback: '200',
    read: whole(1, 1_000_000),
  }),
  SERVICE_BODY_MEMORY_MB: setting({
    about:
      'Memory for the request bodies, datasets and answers of engines of all calls in flight, raw and parsed, in units of 1,048,576 bytes. Accounts share it fairly, and so do the addresses of strangers. A call with large data waits for memory, and gets 503 `busy` after 5 s.',
    fallback: '96',
    read: whole(1, 1_048_576),
  }),
  ...quotaSettings,
  SERVICE_TRUST_PROXY: setting({
    about:
      "Reverse proxies: addresses, networks, `loopback`, `linklocal` or `uniquelocal`, separated by commas. The service reads the caller's address from their `X-Forwarded-For`.",
    read: proxies,
  }),
  SERVICE_CORS_ORIGINS: setting({
    about: 'Web origins, separated by commas. Their pages may call the API from a browser.',
    read: webOrigins,
  }),
  SERVICE_BCRYPT_COST: setting({
    about: 'The cost of a password hash. One more doubles the time.',
    fallback: '12',
    read: whole(4, 20),
  }),
  SERVICE_PASSWORD_BLOCKLIST: setting({
    about: '`true` refuses the most common passwords.',
    fallback: 'false',
    read: flag,
  }),
  ...siteLoginSettings,
  SERVICE_SMTP_URL: setting({
    about: 'The mail server, as an smtp:// or smtps:// URL, with user and password if needed.',
    shown: 'each mail becomes an .eml file in `outbox/` in the data folder',
    secret: true,
    read: address(['smtp:', 'smtps:'], 'must be an smtp:// or smtps:// URL'),
  }),
  SERVICE_MAIL_FROM: setting({
    about: 'The sender of the e-mails.',
    fallback: 'Tenon <tenon@localhost>',
    read: z.string().regex(/^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, {
      error: 'must be an address such as "Tenon <tenon@example.com>"',
    }),
  }),
  SERVICE_INFERENCE_TIMEOUT_S: setting({
    about: 'The seconds that a chat call or a prediction may take, with its time in the queue.',
    fallback: '60',
    read: secondsOfTime(0.1, 3_600),
  }),
  SERVICE_RESPONSE_DAYS: setting({
    about: 'The days that a response of `/openai/v1/responses` is stored, if the request does not have `store: false`.',
    fallback: '30',
    read: whole(1, 3_650),
  }),
  SERVICE_MODEL_BODY_MB: setting({
    about: 'What a request below `/openai/v1` may have, in units of 1,048,576 bytes.',
    fallback: '32',
    read: whole(1, 256),
  }),
  SERVICE_CHAT_QUEUE: setting({
    about: 'The chat calls that may wait for a runtime. Further calls are refused with `model_busy`.',
    fallback: '32',
    read: whole(0, 10_000),
  }),
  SERVICE_DEPLOYMENT_START_TIMEOUT_S: setting({
    about:
      'The seconds that a new deployment may take until its process has proved its health, or its engine says that the model is ready.',
    fallback: '30',
    read: secondsOfTime(0.1, 3_600),
  }),
  SERVICE_RUNTIME_LOAD_TIMEOUT_S: setting({
    about:
      'The seconds that a chat model may take to load. For these seconds, an engine elsewhere that answers 503 counts as loading.',
    fallback: '120',
    read: secondsOfTime(1, 86_400),
  }),
  SERVICE_RUNTIME_ALLOWED_HOSTS: setting({
    about:
      'Hosts with engines that models and deployments may use: `host` for all its ports, or `host:port`, separated by commas. `*.models.example` allows all names that end with `.models.example` ([details](engines/README.md#many-hosts-with-one-pattern)).',
    read: engineHosts,
  }),
  SERVICE_WEBHOOK_ALLOW_NETWORKS: setting({
    about:
      'Addresses and networks, separated by commas. Webhooks may use them in addition to the public internet, also with http://.',
    read: networks,
  }),
  SERVICE_ALERTMANAGER_URL: setting({
    about:
      'The instances of Alertmanager that get the alerts, separated by commas. Alerts fire there until they are acknowledged in Tenon.',
    secret: true,
    read: baseAddresses,
  }),
  SERVICE_SLACK_WEBHOOK_URL: setting({
    about: 'An incoming webhook of Slack. Its channel gets the alerts and their acknowledgements.',
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
      'The model processes that an instance may run, for runtimes and deployments together. Further starts are refused.',
    fallback: '32',
    read: whole(1, 10_000),
  }),
  SERVICE_READY_WAIT_S: setting({
    about: 'The seconds that a starting instance waits at most for its models before it is ready.',
    fallback: '30',
    read: secondsOfTime(0, 3_600),
  }),
  SERVICE_INSTANCE_NAME: setting({
    about: 'The name of this instance in answers that describe its own processes, and in the log.',
    shown: 'the host name, with the port if `DATABASE_URL` is set',
    read: z.string().regex(/^[\w.:@-]{1,100}$/, {
      error: 'must be 1 to 100 letters, digits and characters of ".:@_-"',
    }),
  }),
  SERVICE_DRAIN_DELAY_S: setting({
    about:
      'The seconds that an ending service continues to serve while `/health/ready` answers 503, so that a load balancer notices.',
    fallback: '0',
    read: secondsOfTime(0, 3_600),
  }),
  SERVICE_SHUTDOWN_TIMEOUT_S: setting({
    about:
      'The seconds that a shutdown takes at most, after the drain delay. Calls in flight have three fifths of them to finish.',
    fallback: '20',
    read: secondsOfTime(0, 3_600),
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    about:
      'A collector of OpenTelemetry, such as `http://localhost:4318`, for traces and metrics. Without this setting, OpenTelemetry is not loaded ([details](monitoring/opentelemetry.md)).',
    secret: true,
    read: baseAddress,
  }),
  SERVICE_LOG_LEVEL: setting({
    about: `The lowest level of the events in the log: ${logLevels.join(', ')}.`,
    fallback: 'info',
    read: oneOf(logLevels),
  }),
  SERVICE_LOG_FILE: setting({
    about: 'The log, as JSON Lines, rotated at 20 MiB.',
    shown: '`tenon.log` in the data folder',
    read: z.string().transform((path) => resolve(path)),
  }),
} satisfies Record<string, Setting>;

/** The prefixes of settings that can have any name after the prefix. */
export const settingFamilies = {
  OTEL_: setting({
    about:
      "The other variables of OpenTelemetry's SDK for Node.js, such as `OTEL_SERVICE_NAME` and `OTEL_TRACES_SAMPLER` ([details](monitoring/opentelemetry.md)).",
    secret: true,
    read: z.string(),
  }),
  SERVICE_RUNTIME_KEY_: setting({
    about:
      'The key of an engine, for the model specs and deployments that name this setting as their `key_setting`. As `host=key` or `host:port=key` it is sent to that host only. A host that only a pattern allows gets no other key.',
    secret: true,
    read: secretText(1).refine((text) => !/^\*\.[^=]*=/.test(text), {
      error: 'must begin with one host, not with a pattern: each host of a pattern would get the key',
    }),
  }),
} satisfies Record<string, Setting>;
