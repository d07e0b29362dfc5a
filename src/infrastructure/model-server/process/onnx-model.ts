import { dirname } from 'node:path';
import { env, InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import { nativeMessageOf, relativeTo, sessionOptions } from '../../onnx/onnx-runtime.js';
import { datatypeOf, runtimeTypeOf, type Signature, type Tensor, type TensorSpec, type Tensors } from './tensors.js';

// The log of a failed run may quote the request.
env.logLevel = 'fatal';
const SILENT = 4;

export class OnnxModel {
  private constructor(
    private readonly session: InferenceSession,
    private readonly file: string,
    readonly signature: Signature,
  ) {}

  /** Throws an error with a message for users. */
  static async load(file: string, threads: number): Promise<OnnxModel> {
    const options = { ...sessionOptions(threads), logSeverityLevel: SILENT } as const;
    const session = await InferenceSession.create(file, options).catch((error: unknown) => {
      throw new Error(messageOf(error, file));
    });
    return new OnnxModel(session, file, signatureOf(session));
  }

  /** Runs the model and blocks the thread meanwhile. Throws an error with a message for users. */
  async run(inputs: Tensors): Promise<Tensor[]> {
    const { signature } = this;
    try {
      const feeds: Record<string, RuntimeTensor> = {};
      for (const [at, { name }] of signature.inputs.entries()) feeds[name] = toRuntime(inputs[at] as Tensor);
      const names = signature.outputs.map(({ name }) => name);
      const found = await this.session.run(feeds, names);
      return signature.outputs.map(({ name, datatype }) => {
        const { data, dims } = found[name] as RuntimeTensor;
        return { datatype, shape: dims, data: data as Tensor['data'] };
      });
    } catch (error) {
      throw new Error(messageOf(error, this.file));
    }
  }
}

/**
 * Returns the first line of ONNX Runtime's message. Leaves out its prefix, source places and the folder of the file.
 */
const messageOf = (error: unknown, file: string): string => relativeTo(dirname(file), nativeMessageOf(error)).trim();

/**
 * Returns the inputs and outputs of the model. Leaves out the outputs that cannot be served: ONNX Runtime returns only
 * tensors to JavaScript. Throws if an input cannot be served, or if no output can.
 */
function signatureOf({ inputMetadata, outputMetadata }: InferenceSession): Signature {
  const inputs = inputMetadata.map((one) => {
    const spec = specOf(one);
    if (spec) return spec;
    const kind = one.isTensor ? `has the type ${one.type}` : 'is a list or a map';
    throw new Error(`Input "${one.name}" ${kind}, so it can't be served.`);
  });
  const outputs = outputMetadata.map(specOf).filter((spec) => spec !== null);
  if (outputs.length === 0) throw new Error('None of the outputs is a tensor that can be served.');
  return { inputs, outputs };
}

function specOf(value: InferenceSession.ValueMetadata): TensorSpec | null {
  const datatype = value.isTensor ? datatypeOf(value.type) : null;
  if (!value.isTensor || !datatype) return null;
  return { name: value.name, datatype, shape: value.shape.map((size) => (typeof size === 'number' ? size : -1)) };
}

const toRuntime = ({ datatype, data, shape }: Tensor): RuntimeTensor =>
  new RuntimeTensor(runtimeTypeOf(datatype) as 'float32', data as Float32Array, shape);
