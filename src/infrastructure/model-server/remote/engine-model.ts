import { setTimeout as delay } from 'node:timers/promises';
import type { ByteStream } from '../../../application/shared/ports.js';
import { ModelBusy, RuntimeInvalidResponse } from '../../../domain/chat/errors.js';
import type { RemoteModel } from '../../../domain/deployments/deployment.js';
import { DeploymentUnavailable, EndpointInvalid } from '../../../domain/deployments/errors.js';
import { InvalidRequest, NotFound } from '../../../domain/shared/errors.js';
import { engineLookup } from '../../http-client/engine-lookup.js';
import {
  ConnectionFailed,
  causeOf,
  discard,
  HttpClient,
  type HttpRequest,
  type HttpStream,
  InvalidAnswer,
  retryAfterOf,
  textOf,
} from '../../http-client/http-client.js';
import { steadyMs } from '../../system/scheduling.js';
import { LENGTH_HEADER } from '../protocol.js';
import { type EngineSignature, signatureOf } from './engine-signature.js';
import type { ResponseBytes } from './translation.js';

/** The most bytes of an answer that is not a prediction. */
const LONGEST = 1_024 * 1_024;
/** The most characters of an engine's reason for a refusal. */
const LONGEST_REASON = 300;

/** Limit of an unload, because a deletion waits for it. */
const UNLOAD_MS = 3_000;

/** The pause between two checks of a model that is not ready yet. */
const PAUSE_MS = 200;

const SIGNATURE_MS = 60_000;
const UNKNOWN: EngineSignature = { inputs: [], outputs: [] };

/** Thrown if waiting for the model cannot help. */
class NeverReady extends Error {}

/** The address of an engine, and the key that is sent with each request. */
export interface EngineAddress {
  readonly baseUrl: string;
  /** A secret. It must not reach logs, errors or answers. */
  readonly key: string | null;
}

/** One model on an engine elsewhere. Follows no redirect. */
export class EngineModel {
  private readonly client: HttpClient;
  private signature: { readonly value: EngineSignature; readonly until: number } | null = null;

  constructor(
    private readonly model: RemoteModel,
    private readonly address: EngineAddress,
  ) {
    const { baseUrl, key } = address;
    const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` };
    this.client = new HttpClient(baseUrl, headers, undefined, engineLookup);
  }

  close(): void {
    this.client.close();
  }

  /**
   * Tells the engine to load the model, and waits until the model is ready. Throws EndpointInvalid if the model is not
   * ready in time or cannot become ready. Throws the reason of the signal if it aborts.
   */
  async begin(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(timeoutMs);
    const ending = AbortSignal.any([signal, late]);
    let reason: string | null = 'the engine does not answer';
    try {
      reason = await this.problem(ending); // fails at once if the engine cannot be reached
      await this.manage('load', ending);
      for (reason = await this.problem(ending); reason !== null; reason = await this.problem(ending))
        await delay(PAUSE_MS, undefined, { signal: ending });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (late.aborted) throw new EndpointInvalid(`${reason}, after ${timeoutMs / 1_000} s.`);
      throw error instanceof NeverReady ? new EndpointInvalid(`${error.message}.`) : error;
    }
  }

  /** Tells the engine to load or unload the model. Returns whether the engine did so. */
  async setLoaded(loaded: boolean, timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(loaded ? timeoutMs : UNLOAD_MS);
    return this.manage(loaded ? 'load' : 'unload', signal).catch(() => false);
  }

  /** Returns why the model is not ready, or null. */
  async probe(timeoutMs: number): Promise<string | null> {
    return this.problem(AbortSignal.timeout(timeoutMs)).catch((error: Error) =>
      error instanceof NeverReady ? error.message : 'the engine does not answer',
    );
  }

  /** Returns why the model is not ready, or null. Throws NeverReady if waiting cannot help, or the signal's reason. */
  private async problem(signal: AbortSignal, version: string | null = null): Promise<string | null> {
    const { status, text } = await this.read(`${this.path(version)}/ready`, signal).catch((error) => {
      if (error instanceof ConnectionFailed) throw new NeverReady(causeOf(error));
      if (error instanceof InvalidAnswer) throw new NeverReady('it does not speak the Open Inference Protocol');
      throw error;
    });
    if (status === 401 || status === 403) throw new NeverReady('the engine refuses the key');
    if (status >= 300 && status < 400) throw new NeverReady('the engine redirects, which is not followed');
    if (status !== 200) return `the engine answers with status ${status} that the model is not ready`;
    if (text.trim() === '') return null;
    const { ready = true } = (objectOf(text) ?? { ready: false }) as { ready?: unknown };
    return /^true$/i.test(String(ready)) ? null : 'the engine answers that the model is not ready';
  }

  /** Resolves if the engine answers with 200. Throws DeploymentUnavailable. */
  async requireHealth(health: 'live' | 'ready', signal: AbortSignal): Promise<void> {
    const { status } = await this.ask(`/v2/health/${health}`, signal);
    if (status !== 200) throw new DeploymentUnavailable(`the engine answers that it is not ${health}.`);
  }

  /** Resolves if the model, or this version of the model, is ready. Throws DeploymentUnavailable. */
  async requireReady(version: string | null, signal: AbortSignal): Promise<void> {
    const reason = await this.problem(signal, version).catch((error: unknown) => {
      if (error instanceof NeverReady) return error.message;
      throw error;
    });
    if (reason !== null) throw new DeploymentUnavailable(`${reason}.`);
  }

  /**
   * Returns the metadata of the engine or of the model. Throws DeploymentUnavailable, RuntimeInvalidResponse, and
   * NotFound for a version that the engine does not have.
   */
  async metadata(of: 'engine' | 'model', version: string | null, signal: AbortSignal): Promise<object> {
    const { status, text } = await this.ask(of === 'engine' ? '/v2' : this.path(version), signal);
    if (version !== null && [400, 404].includes(status)) throw new NotFound('version of the model');
    if (status !== 200) throw new RuntimeInvalidResponse(`its engine answered with status ${status}.`);
    const metadata = objectOf(text);
    if (!metadata) throw new RuntimeInvalidResponse('it is not the metadata of a model.');
    return metadata;
  }

  /** Returns the inputs and outputs of the model. They are unknown if the engine gives no metadata. */
  async readSignature(signal: AbortSignal): Promise<EngineSignature> {
    if (this.signature && steadyMs() < this.signature.until) return this.signature.value;
    const metadata = await this.metadata('model', null, signal).catch((error: unknown) => {
      if (error instanceof RuntimeInvalidResponse) return null;
      throw error;
    });
    if (metadata === null) return UNKNOWN;
    this.signature = { value: signatureOf(metadata), until: steadyMs() + SIGNATURE_MS };
    return this.signature.value;
  }

  /** Makes the next prediction read the inputs and outputs again, because the engine may have another model now. */
  forgetSignature(): void {
    this.signature = null;
  }

  /**
   * Returns the answer to an inference. `collect` reads the body of the answer. `extraHeaders` are sent with the
   * request. Throws ModelBusy, InvalidRequest with the engine's reason, NotFound for a version that the engine does not
   * have, DeploymentUnavailable, RuntimeInvalidResponse, and the reason of the signal.
   */
  async infer(
    { bytes, jsonLength }: ResponseBytes,
    version: string | null,
    extraHeaders: Readonly<Record<string, string>>,
    collect: (answer: ByteStream) => Promise<Uint8Array>,
    signal: AbortSignal,
  ): Promise<ResponseBytes> {
    const type = jsonLength === null ? 'application/json' : 'application/octet-stream';
    const headers: Record<string, string> = { ...extraHeaders, 'Content-Type': type };
    if (jsonLength !== null) headers[LENGTH_HEADER] = String(jsonLength);
    const path = `${this.path(version)}/infer`;
    return translated(signal, async () => {
      const answer = await this.client.stream({ method: 'POST', path, headers, body: bytes, signal });
      if (answer.status !== 200) throw await this.refusal(answer, version);
      const { 'content-encoding': coding = 'identity', 'content-length': announced } = answer.headers;
      const chunks = answer.body;
      const length = announced === undefined ? null : Number(announced);
      const answered = await collect({ length, chunks }).finally(() => discard(answer));
      if (coding !== 'identity') throw new RuntimeInvalidResponse('it is compressed, which was not asked for.');
      return { bytes: answered, jsonLength: lengthOf(answer) };
    });
  }

  private async refusal(answer: HttpStream, version: string | null): Promise<Error> {
    const { status, headers } = answer;
    const text = await textOf(answer, LONGEST).catch((error: unknown) => {
      if (error instanceof InvalidAnswer) return '';
      throw error;
    });
    if (status === 429) return new ModelBusy(retryAfterOf(headers) ?? 1);
    if (status === 400 || status === 422) return new InvalidRequest([{ path: 'inputs', message: this.reasonIn(text) }]);
    if (status === 404 && version !== null && version !== this.model.modelVersion)
      return new NotFound('version of the model');
    if (status >= 300 && status < 400) return new RuntimeInvalidResponse('it redirects, which is not followed.');
    return new RuntimeInvalidResponse(`its engine answered with status ${status}.`);
  }

  /** Returns a message with the engine's reason. Leaves out a reason that contains the key. */
  private reasonIn(text: string): string {
    const { error } = (objectOf(text) ?? {}) as { error?: unknown };
    const { key } = this.address;
    const isSafe = typeof error === 'string' && error !== '' && (key === null || !error.includes(key));
    if (!isSafe) return 'are refused by the engine';
    const reason = error.toWellFormed().replace(/[\p{Cc}\s]+/gu, ' ');
    return `are refused by the engine: ${reason.slice(0, LONGEST_REASON)}`;
  }

  /** Returns whether the engine obeyed. Engines without the model repository extension answer 404 or another status. */
  private async manage(action: 'load' | 'unload', signal: AbortSignal): Promise<boolean> {
    const path = `/v2/repository/models/${encodeURIComponent(this.model.modelName)}/${action}`;
    const { status } = await this.send({ method: 'POST', path, json: {}, signal }).catch((error: unknown) => {
      if (error instanceof ConnectionFailed || error instanceof InvalidAnswer) return { status: 0 };
      throw error;
    });
    return status >= 200 && status < 300;
  }

  /** Returns the path of the model. If `version` is null, uses the version of the deployment, if there is one. */
  private path(version: string | null): string {
    const { modelName, modelVersion } = this.model;
    const chosen = version ?? modelVersion;
    const versions = chosen === null ? '' : `/versions/${encodeURIComponent(chosen)}`;
    return `/v2/models/${encodeURIComponent(modelName)}${versions}`;
  }

  private ask(path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
    return translated(signal, () => this.read(path, signal));
  }

  private read(path: string, signal: AbortSignal) {
    return this.send({ method: 'GET', path, signal });
  }

  private async send(request: HttpRequest): Promise<{ status: number; text: string }> {
    const answer = await this.client.stream(request);
    return { status: answer.status, text: await textOf(answer, LONGEST) };
  }
}

/** Returns the result of `work`. Turns failures of the connection into domain errors. */
async function translated<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof InvalidAnswer) throw new RuntimeInvalidResponse(error.problem);
    throw error instanceof ConnectionFailed ? new DeploymentUnavailable(`${causeOf(error)}.`) : error;
  }
}

function lengthOf({ headers }: HttpStream): number | null {
  const length = headers[LENGTH_HEADER.toLowerCase()];
  if (length === undefined) return null;
  if (typeof length === 'string' && /^\d{1,9}$/.test(length)) return Number(length);
  throw new RuntimeInvalidResponse('it does not tell where its binary data begin.');
}

/** Returns null for anything but a JSON object. */
function objectOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
