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
import { type MemoryServedModel, MemoryServer } from './memory-server.js';

export interface MemoryModelServersSettings {
  readonly startTimeoutMs: number;
  readonly inferenceTimeoutMs: number;
  readonly restartMs: number;
}

/** For unit tests: processes that are only imagined. */
export class MemoryModelServer implements ModelServer {
  private readonly servers = new Map<string, MemoryServer>();
  private readonly settings: MemoryModelServersSettings;
  private lastPort = 40_000;
  private closed = false;

  constructor(
    private readonly files: ModelFileResolver,
    private readonly modelOf: (file: string) => MemoryServedModel,
    settings: Partial<MemoryModelServersSettings> = {},
  ) {
    this.settings = { startTimeoutMs: 1_000, inferenceTimeoutMs: 1_000, restartMs: 10, ...settings };
  }

  async start(id: string, model: ServedModel, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (this.closed) throw new DeploymentUnavailable('the service is ending.');
    const server = this.enter(id);
    try {
      await this.begin(server, model, signal);
      return server.port as number;
    } catch (error) {
      this.servers.delete(id);
      throw error;
    }
  }

  resume(id: string, model: ServedModel): void {
    if (!this.closed) void this.keepTrying(this.enter(id), model);
  }

  async probe(id: string): Promise<ServerState> {
    return this.servers.get(id)?.state ?? { status: 'stopped', port: null, reason: null, restarts: 0 };
  }

  ids(): readonly string[] {
    return [...this.servers.keys()];
  }

  async stop(id: string): Promise<void> {
    this.servers.get(id)?.stop();
    this.servers.delete(id);
  }

  async predict(id: string, { body }: PredictionCall, signal: AbortSignal): Promise<Prediction> {
    signal.throwIfAborted();
    const server = this.servers.get(id);
    if (!server) throw new DeploymentStopped();
    if (!server.life)
      throw server.isLooping ? new DeploymentUnavailable(String(server.reason)) : new DeploymentStarting();
    const { life, served } = server;
    const chunks: Uint8Array[] = [];
    for await (const chunk of body.chunks) chunks.push(chunk);
    const seconds = this.settings.inferenceTimeoutMs / 1_000;
    const overtime = new AbortController();
    const timer = setTimeout(() => overtime.abort(new InferenceTimeout(seconds)), this.settings.inferenceTimeoutMs);
    try {
      const ended = AbortSignal.any([signal, life.signal, overtime.signal]);
      return predictionOf(await Promise.race([served?.answer(Buffer.concat(chunks).toString()), over(ended)]));
    } finally {
      clearTimeout(timer);
    }
  }

  output(id: string, lines: number): string[] {
    return this.servers.get(id)?.lines.slice(-lines) ?? [];
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const id of [...this.servers.keys()]) await this.stop(id);
  }

  /** For tests: the process dies as if by a fault, and comes back. */
  crash(id: string): void {
    const server = this.servers.get(id);
    server?.crash('its process ended (signal SIGKILL)');
  }

  /** For tests: the process is there and does nothing any more. */
  freeze(id: string): void {
    const server = this.servers.get(id);
    if (server) server.frozen = true;
  }

  /** For tests: how many there are. */
  get running(): number {
    return [...this.servers.values()].filter(({ life }) => life).length;
  }

  private enter(id: string): MemoryServer {
    const server = new MemoryServer();
    this.servers.set(id, server);
    return server;
  }

  private async begin(server: MemoryServer, model: ServedModel, given?: AbortSignal): Promise<void> {
    const file = await this.files.locate(model.modelPath);
    const served = this.modelOf(file);
    const late = new AbortController();
    const seconds = this.settings.startTimeoutMs / 1_000;
    const giveUp = () => late.abort(new DeploymentUnavailable(`it did not prove its health within ${seconds} s.`));
    const timer = setTimeout(giveUp, this.settings.startTimeoutMs);
    server.attempts++;
    server.lines.push(`serving ${model.name}`);
    try {
      const loaded = served.load().catch((error: Error) => {
        throw new ModelFileInvalid(error.message);
      });
      await Promise.race([
        loaded,
        over(AbortSignal.any([late.signal, server.stopping.signal, ...(given ? [given] : [])])),
      ]);
      server.run(++this.lastPort, served, (reason) => this.retryLater(server, model, reason));
    } finally {
      clearTimeout(timer);
    }
  }

  private async keepTrying(server: MemoryServer, model: ServedModel): Promise<void> {
    server.waiting = null;
    try {
      await this.begin(server, model);
    } catch (error) {
      server.failedToStart = true;
      this.retryLater(server, model, (error as Error).message);
    }
  }

  private retryLater(server: MemoryServer, model: ServedModel, reason: string): void {
    if (server.stopping.signal.aborted) return;
    server.reason = reason;
    const delay = this.settings.restartMs * 2 ** server.ends++;
    server.waiting = setTimeout(() => void this.keepTrying(server, model), delay);
  }
}

function predictionOf(said: unknown): Prediction {
  const { status, text } = (said ?? {}) as { status?: unknown; text?: unknown };
  if (typeof status !== 'number' || typeof text !== 'string') throw new RuntimeInvalidResponse('it is no answer.');
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  return { status, headers: { 'content-type': 'application/json' }, body, complete: true };
}

const over = (ended: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (ended.aborted) reject(ended.reason);
    ended.addEventListener('abort', () => reject(ended.reason), { once: true });
  });
