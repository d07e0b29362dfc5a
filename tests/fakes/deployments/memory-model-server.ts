import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ModelServer,
  Prediction,
  PredictionCall,
  ServerState,
} from '../../../src/application/deployments/ports.js';
import { RuntimeInvalidResponse } from '../../../src/domain/chat/errors.js';
import type { ServedModel } from '../../../src/domain/deployments/deployment.js';
import {
  DeploymentStarting,
  DeploymentStopped,
  DeploymentUnavailable,
} from '../../../src/domain/deployments/errors.js';

interface Server {
  readonly stopping: AbortController;
  /** Is null until the model is loaded. */
  port: number | null;
}

/** Serves models without processes, so that nothing crashes or hangs. */
export class MemoryModelServer implements ModelServer {
  private readonly servers = new Map<string, Server>();
  private lastPort = 40_000;
  private closed = false;

  constructor(
    /** Resolves to a status and a text; anything else is an invalid answer. */
    private readonly answer: (body: string) => Promise<unknown> = async () => null,
    /** Rejects if the file cannot be served. */
    private readonly load: (model: ServedModel) => Promise<void> = async () => undefined,
  ) {}

  async start(id: string, model: ServedModel, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (this.closed) throw new DeploymentUnavailable('the service is ending.');
    return this.begin(id, model);
  }

  resume(id: string, model: ServedModel): void {
    if (!this.closed) void this.begin(id, model);
  }

  async probe(id: string): Promise<ServerState> {
    const server = this.servers.get(id);
    const port = server?.port ?? null;
    return { status: server ? (port ? 'running' : 'starting') : 'stopped', port, reason: null, restarts: 0 };
  }

  ids(): readonly string[] {
    return [...this.servers.keys()];
  }

  async stop(id: string): Promise<void> {
    this.servers.get(id)?.stopping.abort(new DeploymentUnavailable('it was stopped.'));
    this.servers.delete(id);
  }

  async predict(id: string, { body }: PredictionCall, signal: AbortSignal): Promise<Prediction> {
    signal.throwIfAborted();
    const server = this.servers.get(id);
    if (!server) throw new DeploymentStopped();
    if (!server.port) throw new DeploymentStarting();
    const chunks: Uint8Array[] = [];
    for await (const chunk of body.chunks) chunks.push(chunk);
    const ended = AbortSignal.any([signal, server.stopping.signal]);
    ended.throwIfAborted();
    const answered = this.answer(Buffer.concat(chunks).toString());
    const answer = await Promise.race([answered, once(ended, 'abort')]);
    ended.throwIfAborted();
    return predictionOf(answer);
  }

  output(): string[] {
    return [];
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const id of this.ids()) await this.stop(id);
  }

  private async begin(id: string, model: ServedModel): Promise<number> {
    const server: Server = { stopping: new AbortController(), port: null };
    this.servers.set(id, server);
    await nextTurn();
    await this.load(model).catch((error: Error) => {
      this.servers.delete(id);
      throw error;
    });
    server.port = ++this.lastPort;
    return server.port;
  }
}

function predictionOf(answer: unknown): Prediction {
  const { status, text } = (answer ?? {}) as { status?: unknown; text?: unknown };
  if (typeof status !== 'number' || typeof text !== 'string') throw new RuntimeInvalidResponse('it is no answer.');
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  return { status, headers: { 'content-type': 'application/json' }, body, complete: true };
}
