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
export class ModelThread extends WorkerThread<ModelRequest, ModelResponse> implements QueuedModel {
  verdict: BatchVerdict = 'unknown';

  constructor(onDeath: (error: Error) => void) {
    super(join(__dirname, 'model-worker.js'), null, onDeath);
  }

  /** Returns the signature of the model, or the reason why it does not load. */
  async load(settings: ModelSettings): Promise<Signature | { readonly reason: string }> {
    const response = await this.send({ type: 'load', ...settings }, []);
    if (response.type === 'loaded') return response.signature;
    return { reason: response.type === 'broken' ? response.reason : 'the model gave no answer' };
  }

  async run(inputs: Tensors, isJoined = false): Promise<RunResult> {
    const response = await this.send({ type: 'run', inputs, isJoined }, buffersOf(inputs));
    if (response.type !== 'ran') throw new Error(`the model answered a run with ${response.type}`);
    this.verdict = response.verdict;
    return response.result;
  }

  runJoined(inputs: Tensors): Promise<RunResult> {
    return this.run(inputs, true);
  }
}
