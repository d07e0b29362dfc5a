/** Runs ONNX language models, each in a supervised child process: a crash in native code costs one runtime some seconds. */
import { z } from 'zod';
import type { ChatEngine, ModelFolders } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeStopped } from '../../domain/chat/errors.js';
import type { RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { readSpec } from '../runtimes/model-spec.js';
import { dtypes, type OnnxSource } from './chat-process.js';
import { type RuntimeSettings, SupervisedRuntime } from './supervised-runtime.js';

const usualSettings = {
  loadTimeoutMs: 120_000,
  restartDelayMs: { first: 500, max: 30_000 },
};

export type OnnxChatRuntimeSettings = Omit<RuntimeSettings, keyof typeof usualSettings> & Partial<RuntimeSettings>;

const Spec = z.object({
  path: z.string('must name a model folder').min(1, 'must name a model folder'),
  dtype: z.enum(dtypes, `must be one of ${dtypes.join(', ')}`).nullish(),
});

export class OnnxChatRuntime implements ChatEngine {
  readonly kind = 'onnx';
  private readonly runtimes = new Map<string, SupervisedRuntime>();
  private readonly settings: RuntimeSettings;

  constructor(
    settings: OnnxChatRuntimeSettings,
    private readonly folders: ModelFolders,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.settings = { ...usualSettings, ...settings };
  }

  async source(spec: JsonObject): Promise<OnnxSource> {
    const { path, dtype } = readSpec(Spec, spec);
    const folder = await this.folders.locate(path);
    if (folder) return { kind: 'onnx', folder, ...(dtype && { dtype }) };
    throw new InvalidRequest([{ path: 'spec.path', message: 'must name a folder below the models folders' }]);
  }

  start(id: string, source: OnnxSource): void {
    const runtime = this.runtimes.get(id) ?? new SupervisedRuntime(id, this.settings, this.clock, this.log);
    this.runtimes.set(id, runtime);
    runtime.start(source);
  }

  async stop(id: string): Promise<void> {
    const runtime = this.runtimes.get(id);
    await runtime?.stop();
    // Meanwhile it may have been started again, or forgotten by another stop and made anew.
    if (runtime?.status.state === 'stopped' && this.runtimes.get(id) === runtime) this.runtimes.delete(id);
  }

  status(id: string): RuntimeStatus {
    return this.runtimes.get(id)?.status ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    const started = [...this.runtimes].filter(([, { status }]) => status.state !== 'stopped');
    return new Map(started.map(([id, { figures }]) => [id, figures]));
  }

  async complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    signal.throwIfAborted();
    const runtime = this.runtimes.get(id);
    if (!runtime) throw new RuntimeStopped();
    return runtime.complete(request, caller, signal, admitted);
  }

  async close(): Promise<void> {
    await Promise.all([...this.runtimes.keys()].map((id) => this.stop(id)));
  }
}
