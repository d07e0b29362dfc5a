/**
 * Runs the model on the texts of all calls, in batches. Callers take turns, so a call with many texts does not delay
 * others. Between two batches the thread handles new messages.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Limits the tokens of a batch, with padding, and so the time that others wait. A longer text has its own batch. */
const TOKENS_PER_BATCH = 512;

type Encode = (rows: readonly Int32Array[]) => Promise<Float32Array[]>;

interface Call {
  readonly caller: string;
  /** The indexes of the texts that were in no batch yet, the shortest text first. */
  readonly waiting: number[];
  readonly rows: readonly Int32Array[];
  readonly vectors: Float32Array[];
  left: number;
  readonly resolve: (vectors: Float32Array[] | null) => void;
  readonly reject: (error: unknown) => void;
}

interface Piece {
  readonly call: Call;
  readonly text: number;
  readonly row: Int32Array;
}

export class TextQueue {
  /** In order of arrival. */
  private readonly calls = new Map<number, Call>();
  /** The first caller has the next turn. */
  private readonly callers = new Set<string>();
  private running = false;

  constructor(
    private readonly encode: Encode,
    private readonly maxTexts: number,
  ) {}

  /** Resolves to the vectors, or to null if the call is cancelled. Rejects if the model fails on one of the texts. */
  embed(call: number, caller: string, rows: readonly Int32Array[]): Promise<Float32Array[] | null> {
    return new Promise((resolve, reject) => {
      const waiting = [...rows.keys()].sort((a, b) => lengthOf(rows, a) - lengthOf(rows, b));
      this.calls.set(call, { caller, waiting, rows, vectors: [], left: rows.length, resolve, reject });
      this.callers.add(caller);
      if (!this.running) void this.run();
    });
  }

  cancel(call: number): void {
    this.calls.get(call)?.resolve(null);
    this.calls.delete(call);
  }

  private async run(): Promise<void> {
    this.running = true;
    for (;;) {
      await yieldToEventLoop();
      const batch = this.nextBatch();
      if (batch.length === 0) break;
      await this.take(batch);
    }
    this.running = false;
  }

  /** Returns the next batch: texts of the caller with the turn, the shortest first, then texts of others that fit. */
  private nextBatch(): Piece[] {
    const batch: Piece[] = [];
    let [width, tokens] = [0, 0];
    for (const caller of [...this.callers]) {
      const own = [...this.calls.values()].filter((call) => call.caller === caller && call.waiting.length > 0);
      if (own.length === 0 || batch.length === 0) this.callers.delete(caller);
      if (own.length > 0) this.callers.add(caller); // moves the caller with the turn to the end
      for (const call of own) {
        for (let [text] = call.waiting; text !== undefined; [text] = call.waiting) {
          const row = call.rows[text] as Int32Array;
          const size = Math.max(width, row.length) * (batch.length + 1);
          const isMostlyPadding = size > 2 * (tokens + row.length);
          if (batch.length > 0 && (batch.length === this.maxTexts || size > TOKENS_PER_BATCH || isMostlyPadding)) break;
          batch.push({ call, text, row });
          call.waiting.shift();
          [width, tokens] = [Math.max(width, row.length), tokens + row.length];
        }
      }
    }
    return batch;
  }

  private async take(batch: readonly Piece[]): Promise<void> {
    try {
      const vectors = await this.encode(batch.map(({ row }) => row));
      for (const [i, piece] of batch.entries()) this.keep(piece, vectors[i] as Float32Array);
    } catch (error) {
      if (batch.length === 1) this.end(batch[0] as Piece, (call) => call.reject(error));
      else for (const piece of batch) await this.take([piece]); // only the faulty text fails
    }
  }

  private keep(piece: Piece, vector: Float32Array): void {
    const { call, text } = piece;
    if (!vector.every(Number.isFinite)) throw new Error('a vector has numbers that are not finite');
    call.left -= call.vectors[text] ? 0 : 1;
    call.vectors[text] = vector;
    if (call.left === 0) this.end(piece, () => call.resolve(call.vectors));
  }

  private end({ call: ended }: Piece, settle: (call: Call) => void): void {
    for (const [id, call] of this.calls) if (call === ended) this.calls.delete(id);
    settle(ended);
  }
}

const lengthOf = (rows: readonly Int32Array[], text: number): number => rows[text]?.length ?? 0;
