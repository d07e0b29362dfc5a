import { MaskingFailed } from '../../domain/record/errors.js';
import type { Mask } from '../../domain/record/recording.js';
import type { Json } from '../../domain/workspace/json.js';
import { FairQueue, WaitEstimate } from '../chat-runtimes/fair-queue.js';
import { WorkerThread } from '../system/worker-thread.js';
import type { MaskingOrder, MaskingResult } from './masking-thread.js';

/** The most milliseconds for one content. A thread that needs more is ended, and the next content gets a new one. */
const LIMIT_MS = 1_000;
const START_LIMIT_MS = 10_000;
/** The most characters that wait for the thread or are in it. */
const MOST_WAITING = 8_388_608;
/** An owner has at most a quarter, so that one alone cannot keep others out. */
const MOST_OF_ONE = MOST_WAITING / 4;
/** The memory of the thread. No content within the limits needs this much. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
const FULL = 'too much content waits';
const NO_CONTENT: MaskingOrder = { content: '""', masks: [] };

type Thread = WorkerThread<MaskingOrder, MaskingResult>;

interface Turn {
  /** The number of characters. */
  readonly length: number;
  readonly owner: string;
}

/** Masks one content after another in a thread, which starts with the first. Owners get the same share of the thread. */
export class MaskingLane {
  private thread: Thread | null = null;
  private readonly turns = new FairQueue(1, Number.POSITIVE_INFINITY, new WaitEstimate());
  private waiting = 0;
  private readonly waitingOf = new Map<string, number>();
  private isClosed = false;
  private hasEnded: () => void = () => undefined;

  /** `program` is the path of the compiled `masking-thread`. */
  constructor(private readonly program: string) {}

  /** Returns the masked value. Throws MaskingFailed. */
  async mask(value: Json, masks: readonly Mask[], { length, owner }: Turn): Promise<Json> {
    const own = this.waitingOf.get(owner) ?? 0;
    if (own + length > MOST_OF_ONE || this.waiting + length > MOST_WAITING) throw new MaskingFailed(FULL);
    this.count(owner, length);
    try {
      const order = { content: JSON.stringify(value), masks };
      const cost = { caller: owner, tokens: length };
      const { content, problem } = await this.turns.run(cost, new AbortController().signal, async () => [
        await this.inThread(order),
        length,
      ]);
      if (problem !== null) throw new MaskingFailed(problem);
      return JSON.parse(content);
    } finally {
      this.count(owner, -length);
    }
  }

  private count(owner: string, added: number): void {
    this.waiting += added;
    const own = (this.waitingOf.get(owner) ?? 0) + added;
    if (own > 0) this.waitingOf.set(owner, own);
    else this.waitingOf.delete(owner);
  }

  /** Ends the thread. Refuses the content that waits, and all later content. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.thread?.terminate();
  }

  private async inThread(order: MaskingOrder): Promise<MaskingResult> {
    if (this.isClosed) throw new MaskingFailed('the masker is closed');
    const thread = this.thread ?? (await this.started());
    return this.result(thread, order, LIMIT_MS);
  }

  private async started(): Promise<Thread> {
    const onDeath = () => {
      this.thread = null;
      this.hasEnded();
    };
    const thread: Thread = new WorkerThread(this.program, null, onDeath, MEMORY);
    thread.unref();
    this.thread = thread;
    await this.result(thread, NO_CONTENT, START_LIMIT_MS);
    return thread;
  }

  /** Ends the thread if it takes too long. Throws MaskingFailed when it has ended without a result. */
  private result(thread: Thread, order: MaskingOrder, limitMs: number): Promise<MaskingResult> {
    let reason = 'the thread of the masker has ended';
    const late = setTimeout(() => {
      reason = 'it takes too long';
      void thread.terminate();
    }, limitMs);
    const result = new Promise<MaskingResult>((resolve, reject) => {
      this.hasEnded = () => reject(new MaskingFailed(reason));
      thread.send(order, []).then(resolve, reject);
    });
    return result.finally(() => clearTimeout(late));
  }
}
