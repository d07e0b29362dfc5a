/** Runs ajv in threads, so that an endless schema or a slow pattern uses only limited time and memory. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { JsonSchemas } from '../../application/shared/ports.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { SchemaQuestion, SchemaVerdict } from './schema-thread.js';

/** An ordinary schema takes a few milliseconds. A slower one moves to a second thread, so that others do not wait. */
const QUICK_MS = 30;
const LIMIT_MS = 1_000;
/** A thread that exceeds its limit by this time is ended. */
const GRACE_MS = 500;
const LIMITS = { maxOldGenerationSizeMb: 128 };

const TOO_COSTLY = { problem: 'takes too long to be checked', accepts: null };

export class AjvJsonSchemas extends JsonSchemas {
  private readonly quick: SchemaThread;
  private readonly slow: SchemaThread;
  /** Schemas that the slow thread checks at the moment. */
  private readonly slowSchemas = new Set<string>();

  /** `program` is the compiled `schema-thread`. */
  constructor(program: string) {
    super();
    this.quick = new SchemaThread(program, QUICK_MS);
    this.slow = new SchemaThread(program, LIMIT_MS);
  }

  async problem(schema: JsonObject, owner: string): Promise<string | null> {
    return (await this.ask({ schema: JSON.stringify(schema), text: null }, owner)).problem;
  }

  async accepts(schema: JsonObject, text: string, owner: string): Promise<boolean | null> {
    return (await this.ask({ schema: JSON.stringify(schema), text }, owner)).accepts;
  }

  private async ask(question: SchemaQuestion, owner: string): Promise<SchemaVerdict> {
    const { schema } = question;
    const verdict = await this.quick.ask(question, owner, () => this.slowSchemas.has(schema));
    if (verdict) return verdict;
    this.slowSchemas.add(schema);
    try {
      return (await this.slow.ask(question, owner)) ?? TOO_COSTLY;
    } finally {
      this.slowSchemas.delete(schema);
    }
  }
}

/** Gives turns, one at a time. The owner whose last turn was longest ago is next. */
class Turns {
  private isTaken = false;
  private readonly waiting: { readonly owner: string; readonly begin: () => void }[] = [];
  /** The owners who had turns since the last pause. The last turn is the last. */
  private readonly served = new Set<string>();

  async take(owner: string): Promise<void> {
    if (this.isTaken) await new Promise<void>((begin) => this.waiting.push({ owner, begin }));
    this.isTaken = true;
    this.served.delete(owner);
    this.served.add(owner);
  }

  end(): void {
    const order = [...this.served];
    const [first, ...others] = this.waiting;
    if (!first) {
      this.isTaken = false;
      this.served.clear();
      return;
    }
    const last = ({ owner }: { owner: string }) => order.indexOf(owner);
    const next = others.reduce((least, one) => (last(one) < last(least) ? one : least), first);
    this.waiting.splice(this.waiting.indexOf(next), 1);
    next.begin();
  }
}

/** Answers questions one by one. */
class SchemaThread {
  private thread: Worker | null = null;
  private readonly turns = new Turns();

  constructor(
    private readonly program: string,
    private readonly limitMs: number,
  ) {}

  /**
   * Answers a question in the owner's turn. Resolves to null if the answer takes too much time or memory, or if
   * `mustSkip` returns true when the question has its turn.
   */
  async ask(question: SchemaQuestion, owner: string, mustSkip = () => false): Promise<SchemaVerdict | null> {
    await this.turns.take(owner);
    try {
      return mustSkip() ? null : await this.once(question);
    } finally {
      this.turns.end();
    }
  }

  /** Answers one question. Starts a thread if there is none. */
  private async once(question: SchemaQuestion): Promise<SchemaVerdict | null> {
    this.thread ??= await started(this.program, this.limitMs);
    const { thread } = this;
    const ending = new AbortController();
    const ended = once(thread, 'exit', ending).then(() => {
      this.thread = null;
      return [null];
    });
    const stuck = setTimeout(() => void thread.terminate(), this.limitMs + GRACE_MS);
    thread.ref();
    thread.postMessage(question);
    try {
      const [verdict] = await Promise.race([once(thread, 'message', ending), ended]);
      return verdict as SchemaVerdict | null;
    } catch {
      this.thread = null; // it ran out of memory
      return null;
    } finally {
      clearTimeout(stuck);
      thread.unref();
      ended.catch(() => {});
      ending.abort();
    }
  }
}

async function started(program: string, limitMs: number): Promise<Worker> {
  const thread = new Worker(program, { workerData: limitMs, resourceLimits: LIMITS });
  await once(thread, 'message');
  return thread;
}
