import type {
  ModelFileResolver,
  ModelServer,
  Prediction,
  PredictionCall,
  ServerState,
} from '../../../src/application/deployments/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../../src/domain/chat/errors.js';
import type { ServedModel } from '../../../src/domain/deployments/deployment.js';
import {
  DeploymentStarting,
  DeploymentStopped,
  DeploymentUnavailable,
  ModelFileInvalid,
} from '../../../src/domain/deployments/errors.js';

/** Stands for the model of a file. */
export interface MemoryServedModel {
  /** Rejects with the loader's reason. */
  load(): Promise<void>;
  /** Resolves to a status and a text; anything else is an invalid answer. */
  answer(body: string): Promise<unknown>;
}

interface Server {
  readonly stopping: AbortController;
  readonly lines: string[];
  model: MemoryServedModel | null;
  port: number | null;
  reason: string | null;
}

/** Serves models without processes, so that nothing crashes or hangs. */
export class MemoryModelServer implements ModelServer {
  private readonly servers = new Map<string, Server>();
  private readonly settings: { readonly startTimeoutMs: number; readonly inferenceTimeoutMs: number };
  private lastPort = 40_000;
  private closed = false;

  constructor(
    private readonly files: ModelFileResolver,
    private readonly modelOf: (file: string) => MemoryServedModel,
    settings: { readonly startTimeoutMs?: number; readonly inferenceTimeoutMs?: number } = {},
  ) {
    this.settings = { startTimeoutMs: 1_000, inferenceTimeoutMs: 1_000, ...settings };
  }

  async start(id: string, model: ServedModel, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (this.closed) throw new DeploymentUnavailable('the service is ending.');
    const server = this.add(id);
    const late = new DeploymentUnavailable('it did not prove its health in time.');
    try {
      const ended = AbortSignal.any([signal, server.stopping.signal]);
      await inTime(this.load(server, model), ended, this.settings.startTimeoutMs, late);
      return server.port as number;
    } catch (error) {
      this.servers.delete(id);
      throw error;
    }
  }

  resume(id: string, model: ServedModel): void {
    if (this.closed) return;
    const server = this.add(id);
    this.load(server, model).catch((error: Error) => {
      server.reason = error.message;
    });
  }

  async probe(id: string): Promise<ServerState> {
    const server = this.servers.get(id);
    if (!server) return { status: 'stopped', port: null, reason: null, restarts: 0 };
    const { port, reason } = server;
    return { status: port ? 'running' : reason ? 'crash_looping' : 'starting', port, reason, restarts: 0 };
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
    if (server.reason) throw new DeploymentUnavailable(server.reason);
    if (!server.model) throw new DeploymentStarting();
    const chunks: Uint8Array[] = [];
    for await (const chunk of body.chunks) chunks.push(chunk);
    const { inferenceTimeoutMs } = this.settings;
    const ended = AbortSignal.any([signal, server.stopping.signal]);
    const answer = server.model.answer(Buffer.concat(chunks).toString());
    return predictionOf(
      await inTime(answer, ended, inferenceTimeoutMs, new InferenceTimeout(inferenceTimeoutMs / 1_000)),
    );
  }

  output(id: string, lines: number): string[] {
    return this.servers.get(id)?.lines.slice(-lines) ?? [];
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const id of this.ids()) await this.stop(id);
  }

  /** Returns how many are ready. */
  get running(): number {
    return [...this.servers.values()].filter(({ model }) => model).length;
  }

  private add(id: string): Server {
    const server = { stopping: new AbortController(), lines: [], model: null, port: null, reason: null };
    this.servers.set(id, server);
    return server;
  }

  private async load(server: Server, { name, modelPath }: ServedModel): Promise<void> {
    const model = this.modelOf(await this.files.locate(modelPath));
    server.lines.push(`serving ${name}`);
    await model.load().catch((error: Error) => {
      throw new ModelFileInvalid(error.message);
    });
    server.model = model;
    server.port = ++this.lastPort;
  }
}

/** Rejects with the reason of `ended` or, after the time, with `late`. */
async function inTime<T>(work: Promise<T>, ended: AbortSignal, ms: number, late: Error): Promise<T> {
  work.catch(() => undefined); // nobody may be left to hear of it
  ended.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), ms);
    ended.addEventListener('abort', () => reject(ended.reason), { once: true });
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

function predictionOf(answer: unknown): Prediction {
  const { status, text } = (answer ?? {}) as { status?: unknown; text?: unknown };
  if (typeof status !== 'number' || typeof text !== 'string') throw new RuntimeInvalidResponse('it is no answer.');
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  return { status, headers: { 'content-type': 'application/json' }, body, complete: true };
}
