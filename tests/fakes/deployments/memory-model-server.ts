import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ModelAnswer,
  ModelRequest,
  ModelServer,
  ServerState,
} from '../../../src/application/deployments/ports.js';
import { RuntimeInvalidResponse } from '../../../src/domain/chat/errors.js';
import type { ServedModel } from '../../../src/domain/deployments/deployment.js';
import {
  DeploymentStarting,
  DeploymentStopped,
  DeploymentUnavailable,
} from '../../../src/domain/deployments/errors.js';
import { NotFound } from '../../../src/domain/shared/errors.js';

interface Server {
  readonly kind: ServedModel['kind'];
  readonly stopping: AbortController;
  /** The address of the model. Null: it is not loaded yet. */
  url: string | null;
}

/** Serves models without processes, so that nothing crashes. Each model has the version "1". */
export class MemoryModelServer implements ModelServer {
  private readonly servers = new Map<string, Server>();
  private lastPort = 40_000;
  private closed = false;

  constructor(
    /** Resolves to a status, a text and optional headers. Any other value is an invalid answer. */
    private readonly answer: (body: string, request: ModelRequest) => Promise<unknown> = async () => null,
    /** Rejects if the file cannot be served. */
    private readonly load: (model: ServedModel) => Promise<void> = async () => undefined,
  ) {}

  async start(id: string, model: ServedModel, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.closed) throw new DeploymentUnavailable('the service is ending.');
    return this.begin(id, model);
  }

  resume(id: string, model: ServedModel): void {
    if (!this.closed) void this.begin(id, model);
  }

  async probe(id: string): Promise<ServerState> {
    const server = this.servers.get(id);
    if (!server) return { status: 'stopped', url: null, reason: null, restarts: 0 };
    return { status: server.url ? 'running' : 'starting', url: server.url, reason: null, restarts: 0 };
  }

  ids(kind?: ServedModel['kind']): readonly string[] {
    return [...this.servers].filter(([, server]) => !kind || server.kind === kind).map(([id]) => id);
  }

  async stop(id: string): Promise<void> {
    this.servers.get(id)?.stopping.abort(new DeploymentUnavailable('it was stopped.'));
    this.servers.delete(id);
  }

  async request(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    signal.throwIfAborted();
    const server = this.servers.get(id);
    if (!server) throw new DeploymentStopped();
    if (!server.url) throw new DeploymentStarting();
    if (![null, '1'].includes(request.version)) throw new NotFound('version of the model');
    const chunks: Uint8Array[] = [];
    for await (const chunk of request.body?.chunks ?? []) chunks.push(chunk);
    const ended = AbortSignal.any([signal, server.stopping.signal]);
    ended.throwIfAborted();
    const answered = this.answer(Buffer.concat(chunks).toString(), request);
    const answer = await Promise.race([answered, once(ended, 'abort')]);
    ended.throwIfAborted();
    return answerOf(answer);
  }

  async output(): Promise<string[]> {
    return [];
  }

  async setLoaded(): Promise<void> {}

  async close(): Promise<void> {
    this.closed = true;
    for (const id of this.ids()) await this.stop(id);
  }

  private async begin(id: string, model: ServedModel): Promise<string> {
    const server: Server = { kind: model.kind, stopping: new AbortController(), url: null };
    this.servers.set(id, server);
    await nextTurn();
    await this.load(model).catch((error: Error) => {
      this.servers.delete(id);
      throw error;
    });
    server.url = `http://127.0.0.1:${++this.lastPort}`;
    return server.url;
  }
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_ONLY = { 'content-type': 'application/json' };

function answerOf(answer: unknown): ModelAnswer {
  const { status, text, headers = JSON_ONLY } = (answer ?? {}) as Partial<Answered>;
  if (typeof status !== 'number' || typeof text !== 'string') throw new RuntimeInvalidResponse('it is no answer.');
  return { status, headers, body: Buffer.from(text) };
}
