import { AsyncResource } from 'node:async_hooks';
import type {
  ModelAnswer,
  ModelFileResolver,
  ModelRequest,
  ModelServer,
  ServerState,
} from '../../application/deployments/ports.js';
import type { Logger } from '../../application/shared/ports.js';
import type { LocalModel, ServedModel } from '../../domain/deployments/deployment.js';
import { DeploymentStopped, DeploymentUnavailable } from '../../domain/deployments/errors.js';
import { type ModelServerSettings, SupervisedModelServer } from './supervised-model-server.js';

const defaults = {
  probeTimeoutMs: 1_000,
  stopGraceMs: 2_000, // a deletion ends the process on every instance within 3 s
  restartDelayMs: { first: 500, max: 60_000 },
  stableMs: 10 * 60_000,
} satisfies Partial<ModelServerSettings>;

export type LocalModelServerSettings = Omit<ModelServerSettings, keyof typeof defaults> &
  Partial<Pick<ModelServerSettings, keyof typeof defaults>>;

/** Serves each deployment by a supervised child process on this machine. */
export class LocalModelServer implements ModelServer {
  private readonly servers = new Map<string, SupervisedModelServer>();
  private readonly settings: ModelServerSettings;
  /** A process outlives the request that starts it, so its log lines must not name that request. */
  private readonly outsideRequests = new AsyncResource('LocalModelServer');
  private closed = false;

  constructor(
    settings: LocalModelServerSettings,
    private readonly files: ModelFileResolver,
    private readonly log: Logger,
  ) {
    this.settings = { ...defaults, ...settings };
  }

  async start(id: string, model: LocalModel, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.closed) throw new DeploymentUnavailable('the service is ending.');
    const server = this.add(id, model);
    const stop = () => void server.stop();
    signal.addEventListener('abort', stop);
    try {
      return await this.outsideRequests.runInAsyncScope(() => server.start());
    } catch (error) {
      this.servers.delete(id);
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  resume(id: string, model: LocalModel): void {
    if (this.closed) return;
    const server = this.add(id, model);
    void this.outsideRequests.runInAsyncScope(() => server.resume());
  }

  async probe(id: string): Promise<ServerState> {
    const server = this.servers.get(id);
    return server ? server.state() : { status: 'stopped', url: null, reason: null, restarts: 0 };
  }

  ids(kind: ServedModel['kind'] = 'local'): readonly string[] {
    return kind === 'local' ? [...this.servers.keys()] : [];
  }

  async stop(id: string): Promise<void> {
    const server = this.servers.get(id);
    await server?.stop();
    if (this.servers.get(id) === server) this.servers.delete(id);
  }

  async request(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const server = this.servers.get(id);
    if (!server) throw new DeploymentStopped();
    return server.request(request, signal);
  }

  async output(id: string, lines: number): Promise<string[]> {
    return this.servers.get(id)?.output.latest(lines) ?? [];
  }

  async setLoaded(): Promise<void> {} // a running process has always loaded its file

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.servers.keys()].map((id) => this.stop(id)));
  }

  private add(id: string, model: LocalModel): SupervisedModelServer {
    const server = new SupervisedModelServer(id, model, this.settings, this.files, this.log);
    this.servers.set(id, server);
    return server;
  }
}
