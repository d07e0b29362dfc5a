import type { RuntimeConnection } from '../../src/application/chat/ports.js';
import type { NumberedReport } from '../../src/application/operations/ports.js';
import { MemoryBudget } from '../../src/application/shared/memory-budget.js';
import type { Account, Team } from '../../src/domain/accounts/account.js';
import { Credential } from '../../src/domain/accounts/credential.js';
import { Invite } from '../../src/domain/accounts/invite.js';
import { MailedToken, type Message } from '../../src/domain/accounts/mailed-token.js';
import { Alert } from '../../src/domain/alerts/alert.js';
import { AlertRule } from '../../src/domain/alerts/alert-rule.js';
import { Webhook } from '../../src/domain/alerts/webhook.js';
import type { AuditEntry } from '../../src/domain/audit/audit-entry.js';
import type { ChatMessage } from '../../src/domain/chat/chat.js';
import { Conversation } from '../../src/domain/chat/conversation.js';
import type { Response } from '../../src/domain/chat/response.js';
import type { Deployment, LocalModel, RemoteModel } from '../../src/domain/deployments/deployment.js';
import { Evaluation, type Result } from '../../src/domain/jobs/evaluation.js';
import { type FinalStatus, type FinishedJob, Job } from '../../src/domain/jobs/job.js';
import { Dataset } from '../../src/domain/workspace/dataset.js';
import { type DatasetRecord } from '../../src/domain/workspace/dataset-record.js';
import { Model } from '../../src/domain/workspace/model.js';
import { Project } from '../../src/domain/workspace/project.js';
import { UuidIdGenerator } from '../../src/infrastructure/system/adapters.js';
import { validate } from './datasets.js';

export const ids = new UuidIdGenerator();

/** Returns the time that is `seconds` after the creation of the records. */
export const at = (seconds: number): Date => new Date(Date.UTC(2026, 2, 1, 12, 30, 15, 123) + seconds * 1000);

let count = 0;
/** Returns a different text at each call. */
export const unique = (): string => String(++count);

export const aTeam = (over: Partial<Team> = {}): Team => ({
  id: ids.next('tea'),
  operator: false,
  siteKey: null,
  createdAt: at(0),
  ...over,
});

export const anAccount = (team: Team, over: Partial<Account> = {}): Account => ({
  id: ids.next('usr'),
  teamId: team.id,
  name: 'Ada Lovelace',
  email: `ada-${unique()}@example.com`,
  role: 'member',
  passwordHash: 'a hash',
  emailVerifiedAt: null,
  alertEmails: false,
  createdAt: at(0),
  ...over,
});

export const aSession = (account: Account, over: Partial<Credential> = {}): Credential => ({
  ...Credential.session({ ...credentialOf(account), id: ids.next('ses'), address: null, userAgent: null }),
  ...over,
});

/** Returns a connection without fallbacks that is desired to be stopped. */
export const aConnection = (
  over: Pick<RuntimeConnection, 'projectId' | 'modelId'> & Partial<RuntimeConnection>,
): RuntimeConnection => ({ fallbacks: [], split: null, desired: 'stopped', ...over });

export const anApiKey = (account: Account, over: Partial<Credential> = {}): Credential => ({
  ...Credential.apiKey({ ...credentialOf(account), id: ids.next('key'), hint: 'tnk_…abcd' }),
  ...over,
});

const credentialOf = ({ id }: Account) =>
  ({ accountId: id, digest: `digest ${unique()}`, origin: 'login', createdAt: at(0) }) as const;

export const aMailedToken = (account: Account, purpose: MailedToken['purpose'] = 'verification'): MailedToken =>
  MailedToken.issue({
    purpose,
    id: ids.next('ver'),
    accountId: account.id,
    digest: `digest ${unique()}`,
    createdAt: at(0),
  });

export const anInvite = (team: Team, over: Partial<Invite> = {}): Invite => ({
  ...Invite.issue({
    id: ids.next('inv'),
    teamId: team.id,
    token: `token ${unique()}`,
    digest: `digest ${unique()}`,
    email: null,
    role: 'member',
    invitedBy: 'usr_1',
    createdAt: at(0),
    lifetimeSeconds: 3_600,
  }),
  ...over,
});

export const aMessage = (over: Partial<Message> = {}): Message => ({
  to: { name: 'Ada Lovelace', address: 'ada@example.com' },
  subject: 'A letter',
  text: 'Hello Ada,\n\nhere is a link.\n',
  html: '<p>Hello Ada,</p>\n<p>here is a link.</p>\n',
  ...over,
});

export const aProject = (team: Team, over: Partial<Project> = {}): Project => ({
  ...Project.create({ id: ids.next('prj'), teamId: team.id, createdBy: 'usr_1', createdAt: at(0) }),
  ...over,
});

export const aModel = (project: Project, over: Partial<Model> = {}): Model => ({
  ...Model.draft({
    id: ids.next('mdl'),
    projectId: project.id,
    requestId: ids.next('req').slice('req_'.length),
    spec: {},
    requestedSpec: '{}',
    createdBy: 'usr_1',
    createdAt: at(0),
  }),
  ...over,
});

export const aTurn = (question = 'Hi'): ChatMessage[] => [
  { role: 'user', content: question },
  { role: 'assistant', content: `You said: ${question}` },
];

export const aResponse = (project: Project, account: Account, over: Partial<Response> = {}): Response => ({
  id: ids.next('resp'),
  accountId: account.id,
  projectId: project.id,
  status: 'completed',
  background: false,
  previousId: null,
  messages: [{ role: 'user', content: 'Hi' }],
  repeated: { model: project.id },
  output: [],
  usage: null,
  failure: null,
  createdAt: at(0),
  finishedAt: null,
  ...over,
});

export const aConversation = (
  project: Project,
  account: Account,
  messages: readonly ChatMessage[] = aTurn(),
): Conversation =>
  Conversation.begin({ id: ids.next('cnv'), projectId: project.id, accountId: account.id, createdAt: at(0) }, messages);

export const aRecord = (over: Partial<DatasetRecord> = {}): DatasetRecord => ({
  id: `record-${unique()}`,
  group: null,
  input: 'What is the capital of France?',
  expected: 'Paris',
  fields: {},
  ...over,
});

/** Returns a summary of a dataset's records, with an invented digest. */
export const contentOf = (records: readonly DatasetRecord[]) => ({
  recordCount: records.length,
  bytes: JSON.stringify(records).length,
  contentSha256: unique().padStart(64, '0'),
  validation: validate(records),
});

export const aDataset = (
  project: Project,
  records: readonly DatasetRecord[],
  over: Partial<Dataset> = {},
): Dataset => ({
  ...Dataset.create(
    { id: ids.next('dst'), projectId: project.id, name: 'Capitals', createdBy: 'usr_1', createdAt: at(0) },
    contentOf(records),
  ),
  ...over,
});

const stored = () => ({
  id: ids.next('dep'),
  createdBy: ids.next('usr'),
  createdAt: at(0),
  lastPort: 40_123,
  prices: null,
});

export const aDeployment = (over: Partial<LocalModel & Deployment> = {}): Deployment & LocalModel => ({
  kind: 'local',
  name: 'iris',
  modelPath: 'iris.onnx',
  maxBatch: null,
  maxDelayMs: null,
  ...stored(),
  ...over,
});

export const aRemoteDeployment = (over: Partial<RemoteModel & Deployment> = {}): Deployment & RemoteModel => ({
  kind: 'remote',
  name: 'remote iris',
  endpoint: 'http://gpu.internal:8000',
  modelName: 'iris',
  modelVersion: null,
  keySetting: null,
  ...stored(),
  ...over,
});

export const aJob = (over: Partial<Job> = {}): Job => ({
  ...Job.external({
    id: ids.next('job'),
    teamId: 'tea_1',
    projectId: null,
    requestedBy: 'usr_1',
    name: 'nightly training',
    status: 'running',
    createdAt: at(0),
  }),
  ...over,
});

export const anEvaluation = (project: Project, over: Partial<Evaluation> = {}): Evaluation => ({
  ...Evaluation.of(ids.next('job'), {
    project,
    model: aModel(project, { spec: { runtime: 'onnx', path: 'tiny-chat' } }),
    dataset: { ...aDataset(project, [aRecord()]), contentSha256: unique().padStart(64, '0') },
    scorer: { metric: 'normalized', tolerance: 0 },
  }),
  ...over,
});

/** Makes the result of the record at a position. */
export const aResult = (position: number, over: Partial<Result> = {}): Result => ({
  position,
  recordId: `r${position}`,
  group: null,
  input: 'What is the capital of France?',
  expected: 'Paris',
  output: 'Paris',
  score: 1,
  latency: 0.25,
  tokens: { prompt: 7, completion: 2 },
  error: null,
  modelId: 'mdl_00000000-0000-7000-8000-000000000001',
  ...over,
});

export const aCall = (over: Partial<Job> = {}): Job => ({
  ...Job.call({
    id: ids.next('job'),
    teamId: 'tea_1',
    projectId: 'prj_1',
    requestedBy: 'usr_1',
    kind: 'chat',
    name: null,
    modelId: 'mdl_1',
    instance: 1,
    keyId: null,
    createdAt: at(0),
    startedAt: at(0),
  }),
  ...over,
});

export const ended = (job: Job, status: FinalStatus = 'succeeded', finishedAt = at(1)): Job & FinishedJob =>
  Job.finish(job, { status }, finishedAt) as Job & FinishedJob;

export const aRule = (over: Partial<AlertRule> = {}): AlertRule => ({
  ...AlertRule.create({
    id: ids.next('rul'),
    name: 'fails',
    ruleType: 'consecutive_failures',
    threshold: 3,
    createdAt: at(0),
  }),
  ...over,
});

export const anAlert = (over: Partial<Alert> = {}): Alert => ({
  ...Alert.of(aRule(), ended(aJob(), 'failed'), ids.next('alr')),
  ...over,
});

export const anAuditEntry = (over: Partial<AuditEntry> = {}): AuditEntry => ({
  id: ids.next('aud'),
  createdAt: at(0),
  actor: { kind: 'account', id: ids.next('usr'), name: 'Ada Lovelace', credentialId: ids.next('ses') },
  action: 'project.deleted',
  objectId: ids.next('prj'),
  objectName: 'Capitals',
  teamId: ids.next('tea'),
  requestId: ids.next('req'),
  details: {},
  ...over,
});

export const aWebhook = (over: Partial<Webhook> = {}): Webhook => ({
  ...Webhook.create({
    id: ids.next('whk'),
    url: 'https://hooks.example.com/in?key=private',
    createdBy: 'usr_1',
    createdAt: at(0),
  }),
  ...over,
});

/** The memory of a request that no other request limits. */
export const unlimited = new MemoryBudget(Number.POSITIVE_INFINITY).open('usr_test');

/** A report of an instance without models. */
export const aReport = (over: Partial<NumberedReport> = {}): NumberedReport => ({
  number: 1,
  name: 'host-1:8080',
  version: '0.1.0',
  since: at(0),
  state: 'ready',
  runtimes: [],
  deployments: [],
  waitingCalls: 0,
  memoryBytes: 1_048_576,
  ...over,
});
