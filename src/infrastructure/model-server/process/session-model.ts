import '../../onnx/float16.js';
import { dirname } from 'node:path';
import { env, InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import { nativeMessageOf, relativeTo } from '../../onnx/native-errors.js';
import { type Datatype, datatypeOf, runtimeTypeOf } from './datatypes.js';
import type { Signature, Tensor, TensorSpec, Tensors } from './tensors.js';

// What it writes about a failed run may quote the request.
env.logLevel = 'fatal';
const SILENT = 4;

/** One ONNX file, loaded. `run` blocks the thread. */
export class SessionModel {
  private constructor(
    private readonly session: InferenceSession,
    private readonly file: string,
    readonly signature: Signature,
  ) {}

  /** Throws an error with words for whoever brought the file. */
  static async load(file: string, threads: number): Promise<SessionModel> {
    // Threads that spin while they wait take the processor from the other models.
    const patient = threads > 1 ? { extra: { session: { intra_op: { allow_spinning: '0' } } } } : {};
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: SILENT, ...patient } as const;
    const session = await InferenceSession.create(file, options).catch((error: unknown) => {
      throw new Error(words(file, error));
    });
    return new SessionModel(session, file, signatureOf(session));
  }

  /** Throws an error with the runtime's words, cleaned. */
  async run(feeds: Tensors): Promise<Tensor[]> {
    const { inputs, outputs } = this.signature;
    try {
      const given: Record<string, RuntimeTensor> = {};
      for (const [at, { name }] of inputs.entries()) given[name] = runtimeTensor(feeds[at] as Tensor);
      const names = outputs.map(({ name }) => name);
      const found = await this.session.run(given, names);
      return outputs.map(({ name, datatype }) => tensorOf(datatype, found[name] as RuntimeTensor));
    } catch (error) {
      throw new Error(words(this.file, error));
    }
  }
}

/** Without the folder that the file lies in: reasons are read by people who don't own the machine. */
const words = (file: string, error: unknown): string => relativeTo(dirname(file), nativeMessageOf(error)).trim();

/** The outputs that are no tensors are left out, as the runtime can't give them. */
function signatureOf({ inputMetadata, outputMetadata }: InferenceSession): Signature {
  const inputs = inputMetadata.map((one) => {
    const spec = specOf(one);
    if (spec) return spec;
    throw new Error(
      `Input "${one.name}" is of the type ${one.isTensor ? one.type : 'of a list or a map'}, which can't be served.`,
    );
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

const runtimeTensor = ({ datatype, data, shape }: Tensor): RuntimeTensor =>
  new RuntimeTensor(runtimeTypeOf(datatype) as 'float32', data as Float32Array, shape);

const tensorOf = (datatype: Datatype, { data, dims }: RuntimeTensor): Tensor => ({
  datatype,
  shape: dims,
  data: data as Tensor['data'],
});
