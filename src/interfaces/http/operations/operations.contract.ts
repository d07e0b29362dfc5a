import { z } from 'zod';
import { mailRoutes } from '../../../application/accounts/ports.js';
import { instanceLimits, instanceStates, logLevels } from '../../../application/operations/ports.js';
import { callerKinds, roles } from '../../../domain/accounts/caller.js';
import { type PermissionName, permissions } from '../../../domain/accounts/permission.js';
import { deploymentStatuses } from '../../../domain/deployments/deployment.js';
import { UserAnswer } from '../accounts/accounts.contract.js';
import { restrictionFields } from '../accounts/credentials.contract.js';
import { RuntimeAnswer, TargetState } from '../chat/runtime.contract.js';
import { contractsOf } from '../contract.js';
import { Count, SearchText } from '../paging.js';
import {
  InstanceName,
  id,
  intLike,
  namedObject,
  secondsText,
  shortText,
  Tail,
  Timestamp,
  textLike,
} from '../schemas.js';

const operations = contractsOf('Operations');
const monitoring = contractsOf('Monitoring');

const HealthAnswer = namedObject('Health', { status: z.literal('ok') });

export const live = operations.get('/health/live', {
  id: 'live',
  summary: 'Check that the process answers',
  access: 'public',
  answer: HealthAnswer,
});

export const ready = operations.get('/health/ready', {
  id: 'ready',
  summary: 'Check that the service can serve',
  description:
    'Answers 200 if the database answers, its migrations are done and none is of a newer version, the instance is not shutting down, and it has ' +
    'loaded its models or waited for them for `SERVICE_READY_WAIT_S`.',
  access: 'public',
  answer: HealthAnswer,
  refusals: ['storage_unavailable', 'instance_outdated', 'runtime_loading', 'shutting_down'],
});

export const readLog = monitoring.get('/v1/logs', {
  id: 'readLog',
  summary: 'Read the end of the log',
  description:
    'Answers the newest lines, oldest first. Each is a JSON object with `time`, `level` and `event`. Lines of a request or ' +
    'a job carry `request_id` or `job_id`. An answer has at most 16 MiB of lines.',
  access: permissions.readMonitoring,
  query: z.object({
    tail: Tail,
    job_id: shortText(100).optional().describe('Only lines that mention this job, among the newest 64 MiB of the log.'),
    request_id: shortText(100)
      .optional()
      .describe('Only lines that mention this request, among the newest 64 MiB of the log.'),
    level: z
      .enum(logLevels)
      .optional()
      .describe('Only lines of this level or a more severe one, among the newest 64 MiB of the log.'),
    q: SearchText.optional().describe(
      'Only lines with this text, in upper or lower case, among the newest 64 MiB of the log.',
    ),
    from: secondsText()
      .optional()
      .describe('Seconds since the epoch. Only lines from then on, among the newest 64 MiB of the log.'),
    to: secondsText()
      .optional()
      .describe('Seconds since the epoch. Only lines before then, among the newest 64 MiB of the log.'),
  }),
  answer: namedObject('LogTail', {
    lines: z.array(textLike('{"time":"2025-11-21T00:00:00.123Z","level":"info","event":"request"}')),
    count: Count,
    file: textLike('/var/lib/tenon/tenon.log', 'The path of the log on the server.'),
  }),
  refusals: ['busy'],
});

export const metrics = operations.get('/metrics', {
  id: 'metrics',
  summary: 'Read the metrics of this instance, for Prometheus',
  description:
    'Each instance reports about itself. While the database is out of reach, `tenon_database_up` is 0 and the metrics that ' +
    'come from the database are left out. Only calls without the master key are limited, by address.',
  access: permissions.readMetrics,
  answer: textLike(
    '# HELP tenon_database_up Whether the database answered.\n# TYPE tenon_database_up gauge\ntenon_database_up 1\n',
  ),
  answerMedia: 'text/plain',
  refusals: ['rate_limited'],
});

/** Returns a permission's name as the API writes it: `read_workspace` for `readWorkspace`. */
export const permissionField = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const names = Object.keys(permissions) as PermissionName[];

const Limit = namedObject('Limit', {
  limit: intLike(120),
  remaining: intLike(117),
  window_seconds: intLike(60),
  reset_seconds: intLike(3, 'Seconds until more calls remain. 0 if all remain.'),
});

const Stored = namedObject('StoredAmount', {
  used: intLike(12),
  limit: intLike(5_000, 'The quota. A call that would exceed it is refused with `quota_exceeded`.'),
});

const LivingInstance = namedObject('LivingInstance', {
  name: textLike('host-1:8080', 'The name of the instance. In Kubernetes it begins with the name of the pod.'),
  version: textLike('0.1.0', 'The version of Tenon that the instance runs. Versions differ during a rolling update.'),
  since: Timestamp.describe('The start of the instance, in seconds since the epoch.'),
  answering: z.boolean().describe('Whether this instance has answered.'),
  state: z.enum(instanceStates).meta({
    description:
      '`starting`: it loads its models. `ready`: it serves. `draining`: it ends, and finishes the calls in flight.',
    example: 'ready',
  }),
  runtimes: z
    .array(
      z.object({
        project_id: id('prj'),
        model_id: id('mdl'),
        state: TargetState,
        waiting: intLike(2, 'Calls that wait for their turn.'),
      }),
    )
    .describe(
      'Each model of a started runtime, as it is on this instance: of the projects in `runtimes`, and for the master key of ' +
        `all teams. Lists the newest projects first, and at most ${instanceLimits.listed} runtimes of an instance. If an ` +
        `instance has more than ${instanceLimits.reported}, the others know only those of the newest projects.`,
    ),
  deployments: z
    .array(z.object({ deployment_id: id('dep'), status: z.enum(deploymentStatuses).meta({ example: 'running' }) }))
    .describe(
      'The deployments that run on this instance, without those on engines elsewhere. Empty for callers who may not read the monitoring.',
    ),
  waiting_calls: intLike(2, 'The calls of all teams that wait for a runtime of this instance.'),
  memory_bytes: intLike(251_658_240, 'The memory of the process of this instance, without its model processes.'),
});

export const status = operations.get('/v1/status', {
  id: 'readStatus',
  summary: 'Read your role, your permissions, your limits, what you have stored, your runtimes, and the instances',
  description:
    'Lists the runtimes of the newest 1000 projects of the team, newest first. `instances` lists the living instances of the ' +
    `service, the oldest first, and at most ${instanceLimits.instances} besides the one that answers. Each one reports about ` +
    'itself every few seconds. An instance that died is listed for at most ' +
    `${instanceLimits.livesMs / 1000} s after its last report, and one that has ended is not.`,
  access: permissions.readStatus,
  answer: namedObject('Status', {
    instance: InstanceName,
    node: textLike('v24.21.0', 'The version of Node.js that runs the answering instance.'),
    caller: z.object({
      kind: z.enum(callerKinds),
      user: UserAnswer.nullable().describe('Null for the master key.'),
      team: z
        .object({ id: textLike('tea_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11') })
        .nullable()
        .describe('Null for the master key.'),
      role: z.enum(roles).describe('The role of the account. The master key acts as an admin.'),
      operator: z.boolean().describe('Whether the account belongs to the team that runs this service.'),
      verified: z.boolean().describe('Whether the e-mail is verified.'),
      key: z
        .object({ id: id('key'), ...restrictionFields })
        .nullable()
        .describe('The API key of the call and its restrictions. Null without one.'),
    }),
    permissions: z
      .object(Object.fromEntries(names.map((name) => [permissionField(name), z.boolean()])))
      .describe('For each act, whether this credential allows it.'),
    needs_verification: z
      .array(textLike('mint_keys'))
      .describe('The acts that this credential allows once the e-mail is verified.'),
    mail: z
      .enum(mailRoutes)
      .describe('Whether e-mails go to a mail server, or into the folder `outbox` of the data folder.'),
    limits: z.object({
      requests: Limit.describe('The limit of all calls.'),
      auth: Limit.describe('The limit of registrations and logins.'),
      key: Limit.nullable().describe('The limit of requests with this API key. Null without one.'),
    }),
    storage: z.object({
      projects: Stored.nullable().describe("The team's projects. Null for the master key."),
      workspace_bytes: Stored.nullable().describe(
        "The team's specs and datasets with all stored versions. Null for the master key.",
      ),
      conversation_bytes: Stored.nullable().describe("The account's conversations. Null for the master key."),
      response_bytes: Stored.nullable().describe("The account's stored responses. Null for the master key."),
      external_jobs: Stored.describe("The team's external jobs, or those of the master key."),
      upload_bytes: Stored.nullable().describe(
        'The uploaded models of the whole service, measured every minute at most. Null for accounts that are not of the ' +
          'operator team, until the first measurement, and while the store does not answer.',
      ),
    }),
    instances: z.array(LivingInstance),
    runtimes: z.array(RuntimeAnswer.extend({ project_id: id('prj'), project_name: textLike('Capitals') })),
  }),
});
