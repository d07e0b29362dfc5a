import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { hostAsInUrl, type Setting } from './setting.js';
import { settingFamilies, settings } from './settings.js';
import { shippedModels, shippedStarters } from './shipped.js';

type Texts = Readonly<Record<string, string | undefined>>;
type Name = keyof typeof settings;
type Values = { [N in Name]: (typeof settings)[N] extends Setting<infer T> ? T | null : never };

/** The message has a line for each bad setting. */
export class BadSettings extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

export type Config = ReturnType<typeof loadConfig>;

/** Loads settings from the `.env` file of the working folder and the environment, which wins. Throws BadSettings. */
export function loadConfigFromProcess(): Config {
  const texts = dotEnv();
  // The SDK of OpenTelemetry reads only the environment.
  for (const name in texts) if (name.startsWith('OTEL_')) process.env[name] ??= texts[name];
  return loadConfig({ ...texts, ...process.env });
}

/** Reads and checks all settings together. Throws BadSettings. */
export function loadConfig(texts: Texts) {
  const values = readAll(texts);
  const set = <N extends Name>(name: N) => values[name] as NonNullable<Values[N]>;
  const dataDir = set('SERVICE_DATA_DIR');
  const uploadFolder = join(dataDir, 'models');
  return {
    host: set('SERVICE_HOST'),
    port: set('SERVICE_PORT'),
    baseUrl: values.SERVICE_BASE_URL,
    dataDir,
    databaseUrl: values.DATABASE_URL,
    databaseWaitMs: set('SERVICE_DATABASE_WAIT_S') * 1000,
    modelFolders: [...(values.SERVICE_MODELS_DIR ?? [shippedModels]), uploadFolder],
    /** The only model folder that the service writes to. */
    uploadFolder,
    modelUploadBytes: set('SERVICE_MODEL_UPLOAD_MB') * 1024 ** 2,
    /** The bucket for uploads. If it is null, uploads stay in `uploadFolder`. */
    modelStore: modelStore(values, texts),
    modelCache: { folder: join(dataDir, 'model-cache'), mostBytes: set('SERVICE_MODEL_CACHE_MB') * 1024 ** 2 },
    startersFolder: shippedStarters,
    secret: values.SERVICE_SECRET,
    masterKey: values.SERVICE_MASTER_KEY,
    maxAccounts: set('SERVICE_MAX_ACCOUNTS'),
    registration: set('SERVICE_REGISTRATION'),
    rateLimits: { perMinute: set('SERVICE_RATE_LIMIT_PER_MIN'), authPerMinute: set('SERVICE_RATE_LIMIT_AUTH_PER_MIN') },
    rateLimitStore: set('SERVICE_RATE_LIMIT_STORE'),
    datasetRecords: set('SERVICE_DATASET_RECORDS'),
    datasetVersions: set('SERVICE_DATASET_VERSIONS'),
    datasetImportBytes: set('SERVICE_DATASET_IMPORT_MB') * 1024 ** 2,
    // 16 MiB with the usual limit of an import: a CSV file grows by the names of its fields in each record
    datasetBytes: Math.round(3.2 * set('SERVICE_DATASET_IMPORT_MB') * 1024 ** 2),
    currency: set('SERVICE_CURRENCY'),
    quotas: {
      projects: set('SERVICE_QUOTA_PROJECTS'),
      workspaceBytes: set('SERVICE_QUOTA_WORKSPACE_MB') * 1024 ** 2,
      conversationBytes: set('SERVICE_QUOTA_CONVERSATIONS_MB') * 1024 ** 2,
      responseBytes: set('SERVICE_QUOTA_RESPONSES_MB') * 1024 ** 2,
      externalJobs: set('SERVICE_QUOTA_EXTERNAL_JOBS'),
      uploadBytes: set('SERVICE_QUOTA_UPLOADS_MB') * 1024 ** 2,
    },
    maxConnections: set('SERVICE_MAX_CONNECTIONS'),
    bodyMemoryBytes: set('SERVICE_BODY_MEMORY_MB') * 1024 ** 2,
    trustedProxies: values.SERVICE_TRUST_PROXY ?? [],
    corsOrigins: values.SERVICE_CORS_ORIGINS ?? [],
    /** The settings for tokens of an embedding site, or null if there is none. */
    siteTokens: siteTokens(values),
    linkSiteLogins: values.SERVICE_SITE_LOGIN_LINK === true,
    passwordBlocklist: set('SERVICE_PASSWORD_BLOCKLIST'),
    bcryptCost: set('SERVICE_BCRYPT_COST'),
    smtpUrl: values.SERVICE_SMTP_URL,
    mailFrom: set('SERVICE_MAIL_FROM'),
    responseKeptMs: set('SERVICE_RESPONSE_DAYS') * 24 * 60 * 60 * 1000,
    inferenceTimeoutMs: set('SERVICE_INFERENCE_TIMEOUT_S') * 1000,
    modelBodyBytes: set('SERVICE_MODEL_BODY_MB') * 1024 ** 2,
    chatQueue: set('SERVICE_CHAT_QUEUE'),
    deploymentStartTimeoutMs: set('SERVICE_DEPLOYMENT_START_TIMEOUT_S') * 1000,
    runtimeLoadTimeoutMs: set('SERVICE_RUNTIME_LOAD_TIMEOUT_S') * 1000,
    upstream: upstream(values.SERVICE_RUNTIME_ALLOWED_HOSTS ?? [], familyOf('SERVICE_RUNTIME_KEY_', texts)),
    webhookNetworks: values.SERVICE_WEBHOOK_ALLOW_NETWORKS ?? [],
    alertmanagerUrls: values.SERVICE_ALERTMANAGER_URL,
    slackUrl: values.SERVICE_SLACK_WEBHOOK_URL,
    servingThreads: set('SERVICE_SERVING_THREADS'),
    maxChildren: set('SERVICE_MAX_CHILDREN'),
    readyWaitMs: set('SERVICE_READY_WAIT_S') * 1000,
    drainDelayMs: set('SERVICE_DRAIN_DELAY_S') * 1000,
    /** If null, the instance has the name of the host, with its port if DATABASE_URL is set. */
    instanceName: values.SERVICE_INSTANCE_NAME,
    shutdownTimeoutMs: set('SERVICE_SHUTDOWN_TIMEOUT_S') * 1000,
    openTelemetry: openTelemetry(values.OTEL_EXPORTER_OTLP_ENDPOINT, familyOf('OTEL_', texts)),
    logLevel: set('SERVICE_LOG_LEVEL'),
    logFile: values.SERVICE_LOG_FILE ?? join(dataDir, 'tenon.log'),
    /** Names that look like settings but are not, probably typing errors. */
    unknown: Object.keys(texts).filter(
      (name) => name.startsWith('SERVICE_') && !(name in settings) && !familyName(name),
    ),
  };
}

function readAll(texts: Texts): Values {
  const lines: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { fallback, secret, read }] of Object.entries<Setting>(settings)) {
    const text = texts[name] || fallback;
    if (text === undefined) {
      values[name] = null;
      continue;
    }
    const result = read.safeParse(text);
    if (result.success) values[name] = result.data;
    else lines.push(`${name} ${result.error.issues[0]?.message}${secret ? '' : `; it is ${JSON.stringify(text)}`}`);
  }
  for (const name of Object.keys(texts)) {
    const family = familyName(name);
    const result = family && texts[name] ? settingFamilies[family].read.safeParse(texts[name]) : null;
    if (result?.success === false) lines.push(`${name} ${result.error.issues[0]?.message}`);
  }
  const read = values as Values;
  if (lines.length === 0) lines.push(...siteLoginProblems(read), ...modelStoreProblems(read, texts));
  if (lines.length > 0) throw new BadSettings(lines);
  return read;
}

type Family = keyof typeof settingFamilies;

const familyName = (name: string): Family | undefined =>
  (Object.keys(settingFamilies) as Family[]).find((prefix) => name.startsWith(prefix) && name !== prefix);

/** Returns the settings of a family by their names. */
const familyOf = (family: Family, texts: Texts): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text && familyName(name) === family ? [[name, text]] : [])),
  );

/** Returns the variables of OpenTelemetry's SDK, or null if it is off. */
const openTelemetry = (endpoint: string | null, variables: Readonly<Record<string, string>>) =>
  endpoint === null || /^true$/i.test(variables.OTEL_SDK_DISABLED ?? '') ? null : variables;

const upstream = (allowedHosts: readonly string[], keys: Readonly<Record<string, string>>) => ({
  allowedHosts,
  keys: Object.fromEntries(Object.entries(keys).map(([name, text]) => [name, engineKey(text, allowedHosts)])),
});

/** Reads `key` or `host=key`. A key may contain `=`, so `host` must be an allowed host, or have a dot or a port. */
function engineKey(text: string, allowedHosts: readonly string[]) {
  const [, name = '', key = ''] = /^([^=]+)=(?!=*$)(.+)$/.exec(text) ?? [];
  const host = hostAsInUrl(name);
  const isHost =
    /[.:]/.test(name) || allowedHosts.some((allowed) => allowed === host || allowed.startsWith(`${host}:`));
  return host !== null && isHost ? { key, host } : { key: text, host: null };
}

const keyNames = ['SERVICE_SITE_LOGIN_SECRET', 'SERVICE_SITE_LOGIN_JWKS_FILE', 'SERVICE_SITE_LOGIN_JWKS_URL'] as const;
const claimNames = ['SERVICE_SITE_LOGIN_ISSUER', 'SERVICE_SITE_LOGIN_AUDIENCE'] as const;

/** Lists the problems of the site login, which needs exactly one key, an issuer and an audience. */
function siteLoginProblems(values: Values): string[] {
  const keys = keyNames.filter((name) => values[name] !== null);
  if (keys.length === 0) return [];
  const missing = claimNames.filter((name) => values[name] === null);
  return [
    ...missing.map((name) => `${name} is needed beside ${keys[0]}`),
    ...keys.slice(1).map((name) => `${name} must not be set beside ${keys[0]}`),
  ];
}

function siteTokens(values: Values) {
  const [secret, jwksFile, jwksUrl] = keyNames.map((name) => values[name]) as [
    string | null,
    string | null,
    string | null,
  ];
  const [issuer, audience] = claimNames.map((name) => values[name] ?? '') as [string, string];
  const enabled = [secret, jwksFile, jwksUrl].some((key) => key !== null);
  return enabled ? { secret, jwksFile, jwksUrl, issuer, audience } : null;
}

const s3Names = ['SERVICE_S3_ENDPOINT', 'SERVICE_S3_REGION', 'SERVICE_S3_FORCE_PATH_STYLE'] as const;
const keyPair = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

/** Lists the problems of the model store. The settings of S3 need a bucket. An access key needs its secret key. */
function modelStoreProblems(values: Values, texts: Texts): string[] {
  if (values.SERVICE_MODEL_STORE === null)
    return s3Names
      .filter((name) => values[name] !== null)
      .map((name) => `SERVICE_MODEL_STORE is needed beside ${name}`);
  const missing = keyPair.filter((name) => !texts[name]);
  return missing.length === 1 ? [`${missing[0]} is needed beside ${keyPair.find((name) => texts[name])}`] : [];
}

function modelStore(values: Values, texts: Texts) {
  if (values.SERVICE_MODEL_STORE === null) return null;
  const [accessKeyId, secretAccessKey] = keyPair.map((name) => texts[name]);
  const sessionToken = texts.AWS_SESSION_TOKEN;
  return {
    ...values.SERVICE_MODEL_STORE,
    endpoint: values.SERVICE_S3_ENDPOINT,
    region: values.SERVICE_S3_REGION ?? (texts.AWS_REGION || 'us-east-1'),
    forcePathStyle: values.SERVICE_S3_FORCE_PATH_STYLE ?? values.SERVICE_S3_ENDPOINT !== null,
    credentials:
      accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } : null,
    mostBytes: (values.SERVICE_MODEL_UPLOAD_MB as number) * 1024 ** 2,
  };
}

const dotEnv = (): Texts => (existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {});

/** Tells whether npx has started this process. */
export const isStartedByNpx = (): boolean => process.env.npm_command === 'exec';
