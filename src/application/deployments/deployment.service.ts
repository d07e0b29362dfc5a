import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import {
  Deployment,
  deploymentLimits,
  type ModelFields,
  portOf,
  type ServedModel,
} from '../../domain/deployments/deployment.js';
import { DeploymentStarting } from '../../domain/deployments/errors.js';
import { LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Budget } from '../../domain/spend/budget.js';
import { type DeploymentPrices, Prices } from '../../domain/spend/prices.js';
import { Authority } from '../accounts/authority.js';
import { Audit } from '../audit/audit.service.js';
import { CallTracker, type TrackedCall } from '../jobs/call-tracker.js';
import { type ByteStream, Clock, IdGenerator, ServiceSettings, Tracer } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { BudgetTimeOver } from '../spend/call-deadline.js';
import { DeploymentReconciler } from './deployment-reconciler.js';
import { EngineModels } from './engine-models.js';
import { DeploymentRepository, type ModelAnswer, type ModelRequest, ModelServer, type ServerState } from './ports.js';

interface OfDeployment {
  readonly id: string;
}

interface Creation extends ModelFields {
  readonly prices: DeploymentPrices | null;
  /** Aborts when the caller disconnects or loses the permission. Then no deployment is created. */
  readonly signal: AbortSignal;
}

interface ModelCall extends OfDeployment, ModelRequest {
  /** The name of the model in the request. Null if the request names no model. */
  readonly modelName: string | null;
  /** Aborts when the caller disconnects or loses the permission. */
  readonly signal: AbortSignal;
}

const NO_TOKENS = { promptTokens: 0, answers: 0, mostTokens: 0, isExact: true } as const;

interface Begun extends Pick<Deployment, 'prices'> {
  readonly model: ServedModel;
}

/** A deployment with its state on this instance. */
export type DeploymentView = Deployment & { readonly state: ServerState & { readonly url: string } };

@injectable()
export class DeploymentService {
  /** Counts the creations that are in progress on this instance. */
  private creating = 0;

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
    private readonly reconciler: DeploymentReconciler,
    private readonly models: EngineModels,
    private readonly calls: CallTracker,
    private readonly guard: BudgetGuard,
    private readonly settings: ServiceSettings,
    private readonly authority: Authority,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly tracer: Tracer,
  ) {}

  /** Returns all deployments, newest first. Probes them at the same time. */
  async list(by: Caller | null): Promise<DeploymentView[]> {
    authorize(by, permissions.readMonitoring);
    return Promise.all((await this.deployments.all()).map((deployment) => this.view(deployment)));
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { id }: OfDeployment): Promise<DeploymentView> {
    authorize(by, permissions.readMonitoring);
    return this.view(await this.find(id));
  }

  /**
   * Begins to serve a model. Stores the deployment after the model has proved that it is ready, if the caller still has
   * the permission. Throws InvalidRequest, LimitReached, and what `ModelServer.start` and `authorize` throw. Leaves
   * nothing behind when it throws.
   */
  async create(by: Caller | null, { signal, prices: sent, ...input }: Creation): Promise<DeploymentView> {
    const caller = authorize(by, permissions.manageMonitoring);
    const model = Deployment.model(input);
    const prices = Prices.deployment(sent);
    this.creating++;
    try {
      await this.requireRoom(this.creating);
      const deployment = await this.models.during(model, () => this.begin({ model, prices }, caller, signal));
      const view = await this.view(deployment);
      const isReady = view.state.status === 'running';
      await this.models.settle(model, isReady);
      return isReady ? view : await this.view(deployment);
    } finally {
      this.creating--;
    }
  }

  /**
   * Deletes a deployment. Returns when its process on this instance has ended. Other instances begin to stop their
   * processes at once. Throws NotFound.
   */
  async delete(by: Caller | null, { id }: OfDeployment): Promise<void> {
    const caller = authorize(by, permissions.manageMonitoring);
    const object = await this.find(id);
    // The row is removed first, so that no instance starts the process again.
    const removed = await this.audit.perform({ by: caller, action: 'deployment.deleted', object }, () =>
      this.deployments.remove(id),
    );
    if (!removed) throw new NotFound('deployment');
    await this.reconciler.stop(id);
    await this.models.settle(object, true);
  }

  /** Throws NotFound, for callers that may only predict. */
  async require(by: Caller | null, { id }: OfDeployment): Promise<void> {
    authorize(by, permissions.predict);
    await this.find(id);
  }

  /** Returns the latest output lines of the deployment's processes on this instance. Throws NotFound. */
  async output(by: Caller | null, { id, lines }: OfDeployment & { lines: number }): Promise<string[]> {
    authorize(by, permissions.readMonitoring);
    await this.find(id);
    return this.servers.output(id, lines);
  }

  /**
   * Passes a request to the model on this instance. Reads the stored deployment first, so that no instance answers
   * after a deletion. A request without a body creates no job. Throws NotFound, also if the request names another
   * model. Throws DeploymentStarting while this instance does not serve the deployment yet. Throws what
   * `ModelServer.request` throws. Throws if the end of the job cannot be stored.
   */
  async request(by: Caller | null, { id, modelName, signal, ...request }: ModelCall): Promise<ModelAnswer> {
    const caller = authorize(by, permissions.predict);
    const found = await this.deployments.findFor(id, caller.kind === 'master' ? [] : Budget.scopesOf(caller));
    if (!found) throw new NotFound('deployment');
    const { name, prices: sent } = found.deployment;
    if (modelName !== null && modelName !== name) throw new NotFound('model');
    if (!this.servers.ids().includes(id)) throw new DeploymentStarting();
    if (!request.body) return this.send(id, request, signal);
    const about = { by: caller, kind: 'prediction', name, projectId: null, modelId: null, signal } as const;
    const prices = Prices.ofDeployment(sent);
    const demand = async () => ({ ...NO_TOKENS, prices, mostMs: this.settings.inferenceTimeoutMs });
    const guard =
      found.hasBudgets && caller.kind !== 'master'
        ? (callId: string, at: Date) => this.guard.take({ by: caller, callId, at, projectId: null, demand })
        : null;
    const tracking = await this.calls.open({ ...about, pricesOf: () => prices, guard });
    const { deadline } = tracking;
    const body = observed(request.body, () => tracking.admitted());
    const prediction = await this.send(id, { ...request, body }, deadline.signal).catch((error) => {
      deadline.end();
      return fail(tracking, error, signal.aborted || error instanceof BudgetTimeOver);
    });
    return finish(prediction, tracking);
  }

  private send(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const attributes = { 'tenon.deployment.id': id };
    return this.tracer.trace(`${request.operation} ${id}`, { kind: 'client', attributes }, async (span) => {
      const answer = await this.servers.request(id, { ...request, trace: this.tracer.headers() }, signal);
      span.set({ 'http.response.status_code': answer.status });
      return answer;
    });
  }

  private async begin({ model, prices }: Begun, caller: Caller, signal: AbortSignal): Promise<Deployment> {
    const id = this.ids.next('dep');
    const createdBy = caller.kind === 'master' ? null : caller.accountId;
    const lastPort = portOf(await this.servers.start(id, model, signal));
    const deployment = { id, ...model, createdBy, createdAt: this.clock.now(), lastPort, prices };
    await this.store(deployment, caller, signal);
    return deployment;
  }

  private async store(deployment: Deployment, by: Caller, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      const details = detailsOf(deployment);
      await this.audit.perform({ by, action: 'deployment.created', object: deployment, details }, async () => {
        await this.authority.confirm(by, permissions.manageMonitoring);
        await this.requireRoom(1);
        await this.deployments.add(deployment);
      });
      this.reconciler.hold(deployment.id);
    } catch (error) {
      await this.servers.stop(deployment.id);
      throw error;
    }
  }

  private async requireRoom(wanted: number): Promise<void> {
    const { deployments: most } = deploymentLimits;
    if ((await this.deployments.count()) + wanted > most) throw new LimitReached(most, 'deployments');
  }

  private async find(id: string): Promise<Deployment> {
    const deployment = await this.deployments.find(id);
    if (!deployment) throw new NotFound('deployment');
    return deployment;
  }

  private async view(deployment: Deployment): Promise<DeploymentView> {
    const { id, lastPort } = deployment;
    const lastUrl = deployment.kind === 'remote' ? deployment.endpoint : `http://127.0.0.1:${lastPort}`;
    if (!this.servers.ids().includes(id)) {
      const reason = 'this instance is about to start it';
      return { ...deployment, state: { status: 'starting', url: lastUrl, reason, restarts: 0 } };
    }
    const state = await this.servers.probe(id);
    return { ...deployment, state: { ...state, url: state.url ?? lastUrl } };
  }
}

const detailsOf = (model: ServedModel) =>
  model.kind === 'local'
    ? { model_path: model.modelPath }
    : { endpoint: model.endpoint, model_name: model.modelName, model_version: model.modelVersion };

/** Ends the job of a prediction: at once if the answer is complete, otherwise at the end of its stream. */
async function finish({ status, headers, body }: ModelAnswer, tracking: TrackedCall): Promise<ModelAnswer> {
  const { deadline } = tracking;
  const { signal } = deadline;
  if (status === 200 && !ArrayBuffer.isView(body)) {
    // If the end cannot be stored now, `CallReaper` stores it later.
    const end = () => void fail(tracking, signal.reason, true).catch(() => undefined);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    return { status, headers, body: tracked(body, tracking) };
  }
  deadline.end();
  if (status !== 200) await tracking.refused();
  else await tracking.succeeded();
  return { status, headers, body };
}

/** Calls `sent` after the last chunk, because the model then begins to work. */
const observed = (body: ByteStream, sent: () => void): ByteStream => ({
  ...body,
  chunks: (async function* () {
    yield* body.chunks;
    sent();
  })(),
});

async function* tracked(chunks: AsyncIterable<Uint8Array>, tracking: TrackedCall): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    await fail(tracking, error, true);
  } finally {
    tracking.deadline.end();
  }
  await tracking.succeeded();
}

/** Ends a prediction that was not answered. It costs something if the caller left, or if a part of the answer was sent. */
async function fail(tracking: TrackedCall, error: unknown, isCharged: boolean): Promise<never> {
  await tracking.failed(error, chargedIf(isCharged));
  throw error;
}

const chargedIf = (isCharged: boolean) => ({ tokensIn: null, tokensOut: null, firstToken: null, isCharged });
