import { parentPort } from 'node:worker_threads';
import { BatchCheck, type BatchVerdict, hasRows } from './batches.js';
import { OnnxModel } from './onnx-model.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';

export type ModelRequest =
  | { readonly type: 'load'; readonly file: string; readonly threads: number; readonly batching: boolean }
  /** `isJoined` is true if the inputs have the rows of several requests. */
  | { readonly type: 'run'; readonly inputs: Tensors; readonly isJoined: boolean };

export type ModelResponse =
  | { readonly type: 'loaded'; readonly signature: Signature }
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'ran'; readonly result: RunResult; readonly verdict: BatchVerdict };

/** The outputs of a run, or the reason why it failed. */
export type RunResult = { readonly outputs: Tensors } | { readonly problem: string };

type RequestOf<Type> = Extract<ModelRequest, { type: Type }>;

// The program of the thread that holds the model.
let model: OnnxModel;
let check: BatchCheck | null = null;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', (request: ModelRequest) => {
  last = last.then(async () => {
    const response = request.type === 'load' ? await load(request) : await run(request);
    const outputs = 'result' in response && 'outputs' in response.result ? response.result.outputs : [];
    parentPort?.postMessage(response, buffersOf(outputs));
  });
});

async function load({ file, threads, batching }: RequestOf<'load'>): Promise<ModelResponse> {
  try {
    model = await OnnxModel.load(file, threads);
  } catch (error) {
    return { type: 'broken', reason: (error as Error).message };
  }
  if (batching && hasRows(model.signature)) check = new BatchCheck((inputs) => model.run(inputs));
  return { type: 'loaded', signature: model.signature };
}

async function run({ inputs, isJoined }: RequestOf<'run'>): Promise<ModelResponse> {
  let result: RunResult;
  try {
    const outputs = await model.run(inputs);
    if (!isJoined) await check?.add(inputs, outputs);
    result = { outputs };
  } catch (error) {
    result = { problem: (error as Error).message };
  }
  return { type: 'ran', result, verdict: check?.verdict ?? 'unknown' };
}
