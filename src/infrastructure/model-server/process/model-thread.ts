import { join } from 'node:path';
import type { BatchVerdict } from './batch-check.js';
import type { QueuedModel } from './inference-queue.js';
import type { ModelRequest, ModelResponse, RunResult } from './model-worker.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';
import { WorkerThread } from './worker-thread.js';

export interface ModelSettings {
  readonly file: string;
  readonly threads: number;
  readonly batching: boolean;
}

/** The model in a thread of its own. The main thread stays free while the model runs. */
export class ModelThread implements QueuedModel {
  verdict: BatchVerdict = 'unknown';
  private readonly thread: WorkerThread<ModelRequest, ModelResponse>;

  /** `onDeath` is called when the thread ends. */
  constructor(onDeath: (error: Error) => void) {
    this.thread = new WorkerThread(join(__dirname, 'model-worker.js'), null, onDeath);
  }

  /** While the model runs, the process cannot end in an orderly way. */
  get isBusy(): boolean {
    return this.thread.isBusy;
  }

  idle(): Promise<void> {
    return this.thread.idle();
  }

  /** Returns the signature of the model, or the reason why it does not load. */
  async load(settings: ModelSettings): Promise<Signature | { readonly reason: string }> {
    const response = await this.thread.send({ type: 'load', ...settings }, []);
    if (response.type === 'loaded') return response.signature;
    return { reason: response.type === 'broken' ? response.reason : 'the model gave no answer' };
  }

  run(inputs: Tensors): Promise<RunResult> {
    return this.send(inputs, false);
  }

  runJoined(inputs: Tensors): Promise<RunResult> {
    return this.send(inputs, true);
  }

  private async send(inputs: Tensors, isJoined: boolean): Promise<RunResult> {
    const response = await this.thread.send({ type: 'run', inputs, isJoined }, buffersOf(inputs));
    if (response.type !== 'ran') throw new Error(`the model answered a run with ${response.type}`);
    this.verdict = response.verdict;
    return response.result;
  }
}
