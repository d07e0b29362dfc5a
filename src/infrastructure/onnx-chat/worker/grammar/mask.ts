/** A mask tells which tokens a grammar allows next. The grammar's thread writes masks, and the decoder reads them. */
import type { MessagePort } from 'node:worker_threads';

/** Shared memory: the number of masks so far, or FAILED, and then the newest mask with a bit for each token. */
export type MaskMemory = Int32Array<SharedArrayBuffer>;

const FAILED = -1;

/** The total time that a sequence may wait for its masks. */
const WAIT_MS = 2_000;
/** Each token adds this to the total time. */
const WAIT_MS_OF_TOKEN = 100;

/** The sequence can't go on, because its masks take too long or the thread that writes them ended. */
export class NoMask extends Error {
  constructor() {
    super('makes each token of an answer take too long: make its pattern, maxLength and maxItems simpler');
  }
}

export const maskMemory = (tokens: number): MaskMemory =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (1 + Math.ceil(tokens / 32))));

export function writeMask(memory: MaskMemory, mask: Int32Array): void {
  memory.set(mask.subarray(0, memory.length - 1), 1);
  if (Atomics.load(memory, 0) !== FAILED) Atomics.add(memory, 0, 1);
  Atomics.notify(memory, 0);
}

/** Makes the sequence fail, because nobody will write more masks. */
export function writeFailure(memory: MaskMemory): void {
  Atomics.store(memory, 0, FAILED);
  Atomics.notify(memory, 0);
}

/** Makes one sequence of the decoder follow its grammar. */
export class Constraint {
  private accepted = 0;
  constructor(
    private readonly memory: MaskMemory,
    private readonly port: MessagePort,
    private waitMs = WAIT_MS,
  ) {}

  /** Returns null if the next mask is there, else a promise for it. Rejects with NoMask if the mask comes too late. */
  late(): Promise<void> | null {
    return Atomics.load(this.memory, 0) === this.accepted ? this.wait() : null;
  }

  private async wait(): Promise<void> {
    const began = performance.now();
    const end = await Atomics.waitAsync(this.memory, 0, this.accepted, this.waitMs).value;
    if (end === 'timed-out') throw new NoMask();
    this.waitMs -= performance.now() - began;
  }

  /** Returns the mask, in which the bit of each token that may be next is 1. Throws NoMask if the mask is not there. */
  allowed(): Int32Array {
    if (Atomics.load(this.memory, 0) !== this.accepted + 1) throw new NoMask();
    return this.memory.subarray(1);
  }

  /** Asks for the mask after this token. */
  accept(token: number): void {
    this.accepted += 1;
    this.waitMs += WAIT_MS_OF_TOKEN;
    this.port.postMessage(token);
  }

  close(): void {
    this.port.close();
  }
}

/** Returns the scores with minus infinity for each token that is not allowed. */
export function masked(scores: ArrayLike<number>, allowed: Int32Array): Float32Array {
  const kept = new Float32Array(scores.length).fill(Number.NEGATIVE_INFINITY);
  for (let word = 0; word < allowed.length; word++) {
    const bits = allowed[word] as number;
    if (bits === 0) continue;
    const end = Math.min(32 * word + 32, scores.length);
    for (let token = 32 * word; token < end; token++)
      if ((bits >>> (token & 31)) & 1) kept[token] = scores[token] as number;
  }
  return kept;
}
