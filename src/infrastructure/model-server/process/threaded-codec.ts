import { join } from 'node:path';
import { Codec, type RequestBody, type ResponseBody } from './codec.js';
import type { CodecRequest, CodecResponse, CodecSettings } from './codec-worker.js';
import type { InferenceRequest, ResponseFormat } from './inference-request.js';
import { invalidRequest, RequestError } from './request-error.js';
import { buffersOf, byteSizeOf, type Tensors } from './tensors.js';
import { WorkerThread } from './worker-thread.js';

/** From this many bytes on, a conversion takes milliseconds and goes to the thread. */
const LARGE = 256 * 1_024;

/** More than any body within the limits needs. */
const MAX_MEMORY_MB = 1_024;

/** Registers a callback for the end of the caller's connection. Calls it at once if the connection has ended. */
export type OnDisconnect = (callback: () => void) => void;

/** Converts small bodies on this thread, and large ones on a thread of their own. */
export class ThreadedCodec {
  private readonly codec: Codec;
  private thread: WorkerThread<CodecRequest, CodecResponse> | null = null;
  private latest: Promise<unknown> = Promise.resolve();
  /** Fails the conversion that the thread is working on. */
  private fail: (error: Error) => void = () => undefined;

  constructor(
    private readonly settings: CodecSettings,
    private readonly program = join(__dirname, 'codec-worker.js'),
    private readonly maxMemoryMb = MAX_MEMORY_MB,
  ) {
    this.codec = new Codec(settings.signature, settings.name);
  }

  /** Takes the memory of the body. Throws a RequestError. */
  async decode(body: RequestBody, onDisconnect: OnDisconnect): Promise<InferenceRequest> {
    if ((body.jsonLength ?? body.bytes.length) < LARGE) return this.codec.decode(body);
    const response = await this.send({ type: 'decode', body }, [body.bytes.buffer as ArrayBuffer], onDisconnect);
    if (response.type !== 'decoded') throw new Error(`the codec answered decode with ${response.type}`);
    return response.request;
  }

  /** Takes the memory of the outputs. Throws a RequestError. */
  async encode(format: ResponseFormat, outputs: Tensors, onDisconnect: OnDisconnect): Promise<ResponseBody> {
    const asJson = format.outputs.filter(({ binary }) => !binary).flatMap(({ index }) => outputs[index] ?? []);
    if (byteSizeOf(asJson) < LARGE) return this.codec.encode(format, outputs);
    const response = await this.send({ type: 'encode', format, outputs }, buffersOf(outputs), onDisconnect);
    if (response.type !== 'encoded') throw new Error(`the codec answered encode with ${response.type}`);
    return response.body;
  }

  /** Ends the thread. Requests that it works on get no response. */
  async close(): Promise<void> {
    const { thread } = this;
    this.thread = null;
    await thread?.terminate();
  }

  /** Conversions wait here and not in the thread, so that they survive its death. */
  private async send(
    request: CodecRequest,
    transfer: ArrayBuffer[],
    onDisconnect: OnDisconnect,
  ): Promise<CodecResponse> {
    let waiting: (() => Promise<CodecResponse>) | null = () => this.convert(request, transfer);
    const left = new Promise<never>((_, reject) => {
      onDisconnect(() => {
        waiting = null;
        reject(new RequestError('bad_request', 'The caller has left.'));
      });
    });
    const turn = this.latest.then(() => waiting?.() ?? left);
    this.latest = turn.catch(() => undefined);
    const response = await Promise.race([turn, left]);
    if (response.type === 'refused') throw new RequestError(response.code, response.message, {}, response.details);
    return response;
  }

  private convert(request: CodecRequest, transfer: ArrayBuffer[]): Promise<CodecResponse> {
    this.thread ??= this.startThread();
    const { thread } = this;
    return new Promise((resolve, reject) => {
      this.fail = reject;
      thread.send(request, transfer).then(resolve, reject);
    });
  }

  private startThread(): WorkerThread<CodecRequest, CodecResponse> {
    const onDeath = (error: NodeJS.ErrnoException) => {
      if (this.thread !== thread) return;
      this.thread = null;
      this.fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory() : error);
    };
    const limits = { maxOldGenerationSizeMb: this.maxMemoryMb };
    const thread = new WorkerThread<CodecRequest, CodecResponse>(this.program, this.settings, onDeath, limits);
    return thread;
  }
}

const tooMuchMemory = (): RequestError =>
  invalidRequest([{ path: 'body', message: 'takes too much memory as JSON; use binary data, or smaller tensors' }]);
