/** Runs ONNX language models, each in a supervised child process: a crash in native code costs one runtime some seconds. */
import { z } from 'zod';
import type { ChatEngine, ModelFolders } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { readSpec } from '../runtimes/engine-api.js';
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

  create(projectId: string): SupervisedRuntime {
    return new SupervisedRuntime(projectId, this.settings, this.clock, this.log);
  }
}
