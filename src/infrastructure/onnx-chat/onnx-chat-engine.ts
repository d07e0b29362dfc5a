import { z } from 'zod';
import type { ChatEngine } from '../../application/chat/ports.js';
import type { ModelFileResolver } from '../../application/deployments/ports.js';
import type { Clock, IdGenerator, JsonSchemas, Logger } from '../../application/shared/ports.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { readSpec } from '../http-engine/engine-spec.js';
import { dtypes, type OnnxSource } from './chat-process.js';
import { OnnxChatRuntime, type RuntimeSettings } from './onnx-chat-runtime.js';

const usualSettings = {
  loadTimeoutMs: 120_000,
  restartDelayMs: { first: 500, max: 30_000 },
};

export type OnnxChatEngineSettings = Omit<RuntimeSettings, keyof typeof usualSettings> & Partial<RuntimeSettings>;

const Spec = z.object({
  path: z.string('must name a model folder').min(1, 'must name a model folder'),
  dtype: z.enum(dtypes, `must be one of ${dtypes.join(', ')}`).nullish(),
});

/** Runs each ONNX chat or embedding model in a supervised child process, so a native crash stops only one runtime. */
export class OnnxChatEngine implements ChatEngine {
  readonly kind = 'onnx';
  private readonly settings: RuntimeSettings;

  constructor(
    settings: OnnxChatEngineSettings,
    private readonly files: ModelFileResolver,
    private readonly schemas: JsonSchemas,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.settings = { ...usualSettings, ...settings };
  }

  requireFields(spec: JsonObject): void {
    readSpec(Spec, spec);
  }

  async source(spec: JsonObject): Promise<OnnxSource> {
    const { path, dtype } = readSpec(Spec, spec);
    if (await this.files.hasFolder(path)) return { kind: 'onnx', folder: path, ...(dtype && { dtype }) };
    throw new InvalidRequest([{ path: 'spec.path', message: 'must name a folder below the models folders' }]);
  }

  requireRoom(): void {
    this.settings.children.requireRoom();
  }

  create(projectId: string): OnnxChatRuntime {
    const { settings, files, schemas, ids, clock, log } = this;
    return new OnnxChatRuntime(projectId, settings, files, { schemas, ids, clock, log });
  }
}
