import type { ModelAnswer, ModelRequest, ModelServer, ServerState } from '../../../application/deployments/ports.js';
import type { ByteStream, Logger } from '../../../application/shared/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../../domain/chat/errors.js';
import type { RemoteModel, ServedModel } from '../../../domain/deployments/deployment.js';
import { DeploymentStopped, DeploymentUnavailable } from '../../../domain/deployments/errors.js';
import { InvalidRequest, NotFound } from '../../../domain/shared/errors.js';
import { collected } from '../../http-client/collected.js';
import { type EngineAccess, endpointOf } from '../../http-engine/engine-spec.js';
import { RequestError } from '../process/request-error.js';
import { LENGTH_HEADER } from '../protocol.js';
import { EngineModel } from './engine-model.js';
import { Translator } from './translator.js';

export interface RemoteModelServerSettings extends EngineAccess {
  /** The compiled program of the thread that translates large bodies: `translation-thread.js`. */
  readonly translation: string;
  readonly startTimeoutMs: number;
  readonly inferenceTimeoutMs: number;
  /** The limit of a request and of an answer, in bytes. */
  readonly bodyLimit: number;
  /** Default: 1 s. */
  readonly probeTimeoutMs?: number;
}

const PROBE_MS = 1_000;

interface Served {
  readonly model: RemoteModel;
  /** The model on its engine, or the reason why the settings do not allow the engine any more. */
  readonly engine: EngineModel | string;
}

/** Serves deployments with models on engines elsewhere that speak the Open Inference Protocol. */
export class RemoteModelServer implements ModelServer {
  private readonly served = new Map<string, Served>();
  private readonly ending = new AbortController();
  private readonly translator: Translator;

  constructor(
    private readonly settings: RemoteModelServerSettings,
    private readonly log: Logger,
  ) {
    this.translator = new Translator(settings.translation);
  }

  async start(id: string, model: RemoteModel, signal: AbortSignal): Promise<string> {
    const ended = AbortSignal.any([signal, this.ending.signal]);
    ended.throwIfAborted();
    const engine = this.engineOf(model);
    this.served.set(id, { model, engine });
    try {
      await engine.begin(this.settings.startTimeoutMs, ended);
    } catch (error) {
      await this.stop(id);
      throw error;
    }
    this.log.info('deployment of an engine elsewhere ready', { deployment: id });
    return model.endpoint;
  }

  resume(id: string, model: RemoteModel): void {
    if (this.ending.signal.aborted) return;
    try {
      this.served.set(id, { model, engine: this.engineOf(model) });
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error;
      this.log.warn('deployment of an engine elsewhere not allowed', { deployment: id, error });
      this.served.set(id, { model, engine: error.message });
    }
  }

  async probe(id: string): Promise<ServerState> {
    const served = this.served.get(id);
    if (!served) return { status: 'stopped', url: null, reason: null, restarts: 0 };
    const { engine, model } = served;
    const reason = typeof engine === 'string' ? engine : await engine.probe(this.settings.probeTimeoutMs ?? PROBE_MS);
    return { status: reason === null ? 'running' : 'unhealthy', url: model.endpoint, reason, restarts: 0 };
  }

  ids(kind: ServedModel['kind'] = 'remote'): readonly string[] {
    return kind === 'remote' ? [...this.served.keys()] : [];
  }

  async stop(id: string): Promise<void> {
    const served = this.served.get(id);
    this.served.delete(id);
    if (served && typeof served.engine !== 'string') served.engine.close();
  }

  async setLoaded(model: RemoteModel, loaded: boolean): Promise<void> {
    const { endpoint, modelName } = model;
    let done = false;
    try {
      const engine = this.engineOf(model);
      done = await engine.setLoaded(loaded, this.settings.startTimeoutMs);
      engine.close();
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error; // the settings do not allow the engine any more
    }
    const change = loaded ? 'load' : 'unload';
    this.log.info('asked an engine elsewhere to change its models', { endpoint, model: modelName, change, done });
  }

  async request(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    signal.throwIfAborted();
    const served = this.served.get(id);
    if (!served) throw new DeploymentStopped();
    const { engine, model } = served;
    if (typeof engine === 'string') throw new DeploymentUnavailable(engine);
    const { version } = request;
    if (version !== null && model.modelVersion !== null && version !== model.modelVersion)
      throw new NotFound('version of the model');
    const ended = AbortSignal.any([signal, this.ending.signal]);
    if (request.body) return this.inferred(engine, model, request, request.body, ended);
    const json = await this.inTime(ended, (ending) => read(engine, model, request, ending));
    return answer(200, 'application/json', [Buffer.from(JSON.stringify(json))]);
  }

  async output(): Promise<string[]> {
    return [];
  }

  async close(): Promise<void> {
    this.ending.abort(new DeploymentUnavailable('the service is ending.'));
    await Promise.all([...this.ids().map((id) => this.stop(id)), this.translator.close()]);
  }

  private async inferred(
    engine: EngineModel,
    model: RemoteModel,
    { operation, version, jsonLength, requestId, trace, memory }: ModelRequest,
    body: ByteStream,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    try {
      const { bodyLimit: limit } = this.settings;
      const reserve = (room: number) => memory.grow(0, room);
      const bytes = await collected(body, { limit, tooLong: () => tooLarge(limit), reserve });
      return await this.inTime(signal, async (ending) => {
        const signature = await engine.readSignature(ending);
        const isPredict = operation === 'predict';
        const engineRequest = await this.translator.request(
          ending,
          { kind: 'infer', bytes, jsonLength },
          isPredict,
          signature,
        );
        const held = engineRequest.bytes.length;
        const collect = (answer: ByteStream) =>
          collected(answer, {
            limit,
            tooLong: () => answerTooLarge(limit),
            reserve: (room) => memory.grow(held, room),
          });
        const engineAnswer = await engine.infer(
          engineRequest,
          version,
          { 'X-Request-Id': requestId, ...trace },
          collect,
          ending,
        );
        const { name, modelName, modelVersion } = model;
        const answeringModel = { name, modelName, version: version ?? modelVersion };
        const { bytes: _, jsonLength: __, ...expected } = engineRequest;
        const translated = await this.translator.answer(ending, engineAnswer, expected, answeringModel, signature);
        if (translated.jsonLength === null) return answer(200, 'application/json', translated.parts);
        const length = { [LENGTH_HEADER.toLowerCase()]: String(translated.jsonLength) };
        return answer(200, 'application/octet-stream', translated.parts, length);
      });
    } catch (error) {
      engine.forgetSignature(); // the engine may have another model now
      if (!(error instanceof RequestError)) throw error;
      return answer(error.status, 'application/json', [Buffer.from(error.envelope(requestId))], error.headers);
    }
  }

  /** Runs `work`, and aborts it with InferenceTimeout when it takes too long. */
  private async inTime<T>(signal: AbortSignal, work: (ending: AbortSignal) => Promise<T>): Promise<T> {
    const { inferenceTimeoutMs: milliseconds } = this.settings;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new InferenceTimeout(milliseconds / 1_000)), milliseconds);
    return work(AbortSignal.any([signal, late.signal])).finally(() => clearTimeout(timer));
  }

  /** Throws InvalidRequest if the settings do not allow the engine. */
  private engineOf(model: RemoteModel): EngineModel {
    return new EngineModel(model, endpointOf(this.settings, model.endpoint, model.keySetting));
  }
}

/** Extensions of the protocol that pass through the service. */
const EXTENSIONS = ['binary_tensor_data'];

/** Returns the answer of an operation without a body. */
async function read(
  engine: EngineModel,
  { name }: RemoteModel,
  { operation, version }: ModelRequest,
  signal: AbortSignal,
): Promise<object> {
  switch (operation) {
    case 'server_live':
      await engine.requireHealth('live', signal);
      return { live: true };
    case 'server_ready':
      await engine.requireReady(null, signal);
      return { ready: true };
    case 'model_ready':
      await engine.requireReady(version, signal);
      return { name, ready: true };
    case 'server_metadata': {
      const { extensions, ...metadata } = (await engine.metadata('engine', null, signal)) as { extensions?: unknown };
      const offered: unknown[] = Array.isArray(extensions) ? extensions : [];
      return {
        name: '',
        version: '',
        ...metadata,
        extensions: EXTENSIONS.filter((extension) => offered.includes(extension)),
      };
    }
    default:
      return { platform: '', inputs: [], outputs: [], ...(await engine.metadata('model', version, signal)), name };
  }
}

function answer(
  status: number,
  type: string,
  parts: readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = {},
): ModelAnswer {
  const [only, ...others] = parts;
  const body = only && others.length === 0 ? only : Buffer.concat(parts);
  return { status, headers: { ...headers, 'content-type': type, 'content-length': String(body.length) }, body };
}

const tooLarge = (limit: number) =>
  new RequestError('payload_too_large', `The body is over the limit of ${limit} bytes.`);

const answerTooLarge = (limit: number) => new RuntimeInvalidResponse(`it is larger than ${limit} bytes.`);
