import { injectable } from 'inversify';
import type { LivingInstance } from '../../../application/operations/instance-reporter.js';
import { MonitoringService } from '../../../application/operations/monitoring.service.js';
import type { Quota } from '../../../application/operations/ports.js';
import { StatusService } from '../../../application/operations/status.service.js';
import { Instance } from '../../../application/shared/instance.js';
import type { AccountCaller, Caller } from '../../../domain/accounts/caller.js';
import { KeyRestrictions } from '../../../domain/accounts/key-restrictions.js';
import { nodeVersion } from '../../version.js';
import { callerAnswer } from '../accounts/accounts.controller.js';
import { listed } from '../answers.js';
import { runtimeAnswer } from '../chat/runtime.controller.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { seconds } from '../schemas.js';
import { GracefulShutdown } from '../server.js';
import * as contracts from './operations.contract.js';

type StatusAnswer = AnswerOf<typeof contracts.status>;

@injectable()
export class OperationsController implements Controller {
  readonly routes = [
    route(contracts.readLog, async ({ caller, query, memory }) => {
      const { tail, job_id: jobId = null, request_id: requestId = null, level = null, q: text, from, to } = query;
      const input = { most: tail, jobId, requestId, level, text, from, to, memory };
      const { lines, file } = await this.monitoring.readLog(caller, input);
      return { ...listed('lines', lines), file };
    }),
    route(contracts.metrics, ({ caller }) => this.monitoring.readMetrics(caller)),
    route(contracts.live, async () => ({ status: 'ok' as const })),
    route(contracts.ready, async () => {
      this.shutdown.check();
      await this.monitoring.checkReady();
      return { status: 'ok' as const };
    }),
    route(contracts.status, async ({ caller, readQuotas }): Promise<StatusAnswer> => {
      const found = await this.statuses.read(caller);
      const { caller: known, may, awaitingVerification, mail, runtimes, instances, storage } = found;
      const [requests, auth, own] = (await readQuotas()) as [Quota, Quota, Quota?];
      return {
        instance: this.instance.name,
        node: nodeVersion,
        caller: callerStatus(known),
        permissions: Object.fromEntries(
          Object.entries(may).map(([name, value]) => [contracts.permissionField(name), value]),
        ),
        needs_verification: awaitingVerification.map(contracts.permissionField),
        mail,
        limits: { requests: limitAnswer(requests), auth: limitAnswer(auth), key: own ? limitAnswer(own) : null },
        storage: {
          projects: storage.projects ?? null,
          workspace_bytes: storage.workspaceBytes ?? null,
          conversation_bytes: storage.conversationBytes ?? null,
          response_bytes: storage.responseBytes ?? null,
          external_jobs: storage.externalJobs,
          upload_bytes: storage.uploadBytes ?? null,
        },
        instances: instances.map(instanceAnswer),
        runtimes: runtimes.map(({ project: { id, name }, ...runtime }) => {
          return { project_id: id, project_name: name, ...runtimeAnswer(runtime) };
        }),
      };
    }),
  ];

  constructor(
    private readonly monitoring: MonitoringService,
    private readonly shutdown: GracefulShutdown,
    private readonly statuses: StatusService,
    private readonly instance: Instance,
  ) {}
}

function callerStatus(caller: Caller): StatusAnswer['caller'] {
  const { kind } = caller;
  if (kind === 'master')
    return { kind, user: null, team: null, role: 'admin', operator: true, verified: true, key: null };
  const { teamId, role, operator, emailVerified: verified } = caller;
  const key = kind === 'api_key' ? keyStatus(caller) : null;
  return { kind, user: callerAnswer(caller), team: { id: teamId }, role, operator, verified, key };
}

function keyStatus({ credentialId: id, restrictions }: AccountCaller): StatusAnswer['caller']['key'] {
  const { projects, permissions, ...limits } = restrictions ?? KeyRestrictions.NONE;
  return {
    id,
    projects: projects && [...projects],
    permissions: permissions && [...permissions],
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    max_concurrent: limits.maxConcurrent,
  };
}

const limitAnswer = ({ limit, remaining, seconds }: Quota): StatusAnswer['limits']['auth'] => ({
  limit,
  remaining,
  window_seconds: 60,
  reset_seconds: seconds,
});

const instanceAnswer = (one: LivingInstance): StatusAnswer['instances'][number] => ({
  name: one.name,
  version: one.version,
  since: seconds(one.since),
  answering: one.answering,
  state: one.state,
  runtimes: one.runtimes.map(({ projectId, modelId, state, waiting }) => {
    return { project_id: projectId, model_id: modelId, state, waiting };
  }),
  deployments: one.deployments.map(({ id, status }) => ({ deployment_id: id, status })),
  waiting_calls: one.waitingCalls,
  memory_bytes: one.memoryBytes,
});
