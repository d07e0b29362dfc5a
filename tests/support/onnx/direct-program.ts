import { InferenceSession, Tensor } from 'onnxruntime-node';

/** Runs a file in ONNX Runtime, once for each message. `node direct-program.js <file>` */
export interface DirectTensor {
  readonly type: string;
  readonly data: Tensor['data'] | readonly string[];
  readonly dims: readonly number[];
}

async function main(): Promise<void> {
  const session = await InferenceSession.create(process.argv[2] ?? '');
  process.on('message', async (feeds: Record<string, DirectTensor>) => {
    const inputs = Object.entries(feeds).map(([name, { type, data, dims }]) => [
      name,
      new Tensor(type as 'float32', data as Float32Array, dims),
    ]);
    const outputs = Object.entries(await session.run(Object.fromEntries(inputs)));
    process.send?.(Object.fromEntries(outputs.map(([name, { type, data, dims }]) => [name, { type, data, dims }])));
  });
}

void main();
