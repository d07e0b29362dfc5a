import type { InferenceSession } from 'onnxruntime-node';
import { BrokenModel } from './broken-model.js';

type KvType = 'float32' | 'float16';

/** One tensor of the cache of keys and values: how a step takes it in and gives it out. */
interface KvTensor {
  readonly input: string;
  readonly output: string;
  readonly type: KvType;
  readonly heads: number;
  readonly headSize: number;
}

const PAST = 'past_key_values.';
const PRESENT = 'present.';
const TOKENS = 'input_ids';
const OPTIONAL = ['attention_mask', 'position_ids'];

type SessionShape = Pick<InferenceSession, 'inputNames' | 'inputMetadata' | 'outputNames'>;

/** What the session says of itself. It is believed over config.json, which exports don't always keep true. */
export interface KvLayout {
  readonly tensors: readonly KvTensor[];
  readonly takesMask: boolean;
  readonly takesPositions: boolean;
}

/** What the cache of one token weighs. */
export const bytesPerToken = ({ tensors }: KvLayout): number =>
  tensors.reduce((sum, { type, heads, headSize }) => sum + heads * headSize * (type === 'float16' ? 2 : 4), 0);

/** Throws BrokenModel where the model has no cache, or takes what we can't give. */
export function kvLayoutOf(session: SessionShape, file: string): KvLayout {
  const wrong = (problem: string) => new BrokenModel('weights', `${file} ${problem}`);
  const names = session.inputNames;
  const [unknown] = names.filter((name) => name !== TOKENS && !OPTIONAL.includes(name) && !name.startsWith(PAST));
  const past = session.inputMetadata.filter(({ name }) => name.startsWith(PAST));
  if (!names.includes(TOKENS)) throw wrong(`has no input ${TOKENS}: it is not a language model`);
  if (past.length === 0) throw wrong(`has no key/value inputs (${PAST}*): export it with its cache`);
  if (unknown) throw wrong(`needs the input ${unknown}, which is not supported`);
  if (!session.outputNames.includes('logits')) throw wrong('has no output logits');
  const [takesMask = false, takesPositions = false] = OPTIONAL.map((name) => names.includes(name));
  return {
    tensors: past.map((metadata) => kvTensorOf(metadata, session.outputNames, wrong)),
    takesMask,
    takesPositions,
  };
}

function kvTensorOf(
  metadata: InferenceSession.ValueMetadata,
  outputs: readonly string[],
  wrong: (problem: string) => BrokenModel,
): KvTensor {
  const input = metadata.name;
  const output = input.replace(PAST, PRESENT);
  if (!outputs.includes(output)) throw wrong(`takes ${input} but gives no ${output}`);
  if (!metadata.isTensor || (metadata.type !== 'float32' && metadata.type !== 'float16'))
    throw wrong(`has the input ${input} of a type that is not supported`);
  const [, heads, , headSize] = metadata.shape;
  if (typeof heads !== 'number' || typeof headSize !== 'number') throw wrong(`does not fix the shape of ${input}`);
  return { input, output, type: metadata.type, heads, headSize };
}
