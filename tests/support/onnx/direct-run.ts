import { InferenceSession, type Tensor } from 'onnxruntime-node';

/** Runs a file in ONNX Runtime, without the code of the service. */
export async function directRun(file: string, inputs: InferenceSession.FeedsType): Promise<Record<string, Tensor>> {
  const session = await InferenceSession.create(file);
  const outputs = await session.run(inputs);
  await session.release();
  return outputs as Record<string, Tensor>;
}
