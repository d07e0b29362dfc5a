/** The program of the thread that reads large answers of engines. The main thread stays free for other callers. */
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { z } from 'zod';
import { wholeBuffers } from '../system/worker-thread.js';
import { PackedLogprobs, type Read, readJson } from './answer-reading.js';

/** Names a schema: `schemas[name](...args)` of a module below `dist/src`. */
export interface SchemaName {
  readonly module: string;
  readonly name: 'answer' | 'chunk' | 'embeddings';
  readonly args: readonly unknown[];
}

export interface ReadOrder {
  readonly schema: SchemaName;
  /** The text in UTF-8. */
  readonly bytes: Uint8Array;
  readonly problem: string;
}

/** `logprobs` are those of the value, packed. */
export type ReadResult = Read<object> & { readonly logprobs?: Uint8Array };

type Schemas = Readonly<Record<string, (...args: readonly unknown[]) => z.ZodType<object>>>;

const SOURCES = join(__dirname, '../..');

async function read({ schema: { module, name, args }, bytes, problem }: ReadOrder): Promise<ReadResult> {
  const { schemas } = (await import(join(SOURCES, module))) as { schemas: Schemas };
  const schema = schemas[name]?.(...args);
  if (!schema) throw new Error(`${module} has no schema ${name}`);
  const result = readJson(schema, new TextDecoder().decode(bytes), problem);
  if (!('value' in result && 'logprobs' in result.value)) return result;
  const { logprobs, ...value } = result.value;
  return { value, logprobs: PackedLogprobs.pack(logprobs as never) };
}

function buffersOf(result: ReadResult): ArrayBuffer[] {
  const { vectors = [] } = ('value' in result ? result.value : {}) as { vectors?: readonly Float32Array[] };
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
  return wholeBuffers([...bytes, ...(result.logprobs ? [result.logprobs] : [])]);
}

parentPort?.on('message', async (order: ReadOrder) => {
  const result = await read(order);
  parentPort?.postMessage(result, buffersOf(result));
});
