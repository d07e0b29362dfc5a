/** Runs ajv in a thread, so that a pattern that backtracks forever, or a schema without end, costs bounded time and memory. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { JsonSchemas } from '../../application/shared/ports.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { SchemaQuestion, SchemaVerdict } from './schema-thread.js';

/** An ordinary schema takes a few milliseconds. */
const LIMIT_MS = 1_000;
const LIMITS = { maxOldGenerationSizeMb: 128 };

const TOO_COSTLY = { problem: 'takes too long to be checked', accepts: false };

export class AjvJsonSchemas extends JsonSchemas {
  private thread: Worker | null = null;
  private latest: Promise<unknown> = Promise.resolve();

  /** `program` is the compiled `schema-thread`. */
  constructor(private readonly program: string) {
    super();
  }

  async problem(schema: JsonObject): Promise<string | null> {
    return (await this.ask({ schema: JSON.stringify(schema), text: null })).problem;
  }

  async accepts(schema: JsonObject, text: string): Promise<boolean> {
    return (await this.ask({ schema: JSON.stringify(schema), text })).accepts;
  }

  private ask(question: SchemaQuestion): Promise<SchemaVerdict> {
    const answer = this.latest.then(() => this.once(question));
    this.latest = answer.catch(() => {});
    return answer;
  }

  /** Ends a thread that takes too long. The next question starts another one. */
  private async once(question: SchemaQuestion): Promise<SchemaVerdict> {
    this.thread ??= await started(this.program);
    const { thread } = this;
    const ending = new AbortController();
    const ended = once(thread, 'exit', ending);
    const late = setTimeout(() => void thread.terminate(), LIMIT_MS);
    thread.ref();
    thread.postMessage(question);
    try {
      const [verdict] = await Promise.race([once(thread, 'message', ending), ended.then(() => [null])]);
      if (verdict) return verdict as SchemaVerdict;
    } catch {
      // The thread ran out of memory.
    } finally {
      clearTimeout(late);
      thread.unref();
      ended.catch(() => {});
      ending.abort();
    }
    this.thread = null;
    return TOO_COSTLY;
  }
}

async function started(program: string): Promise<Worker> {
  const thread = new Worker(program, { resourceLimits: LIMITS });
  await once(thread, 'message');
  return thread;
}
