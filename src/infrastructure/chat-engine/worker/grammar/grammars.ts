/** The threads of the grammars in use. Each has one, so that a schema that takes long, or crashes XGrammar, harms no other. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { ResponseFormat } from '../../../../domain/chat/chat.js';
import type { Json } from '../../../../domain/workspace/json.js';
import type { Report } from '../../protocol.js';
import type { GrammarReport, GrammarSource, SequenceOrder, Tokens } from './grammar-thread.js';
import { type MaskMemory, maskMemory, writeFailure } from './mask.js';

/** Compiled grammars, with those that are not in use. Further calls wait. */
const MAX_GRAMMARS = 8;
/** Grammars of one caller that are in use, so that slow ones leave places to others. */
const MAX_OF_CALLER = 4;
/** Grammars that are compiled at once, of different callers. Each takes a core. */
const MAX_COMPILING = 2;
const COMPILE_MS = 10_000;
/** The JavaScript memory of a thread. */
const THREAD_MB = 512;

const SCHEMA = 'response_format.json_schema.schema';
/** The keywords that make grammars large. */
const COSTLY = [
  'pattern',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'enum',
  'anyOf',
  'oneOf',
  'allOf',
  'properties',
];

type GrammarRefusal = Extract<Report, { type: 'refused' }>;

interface Waiting {
  readonly caller: string;
  /** The digest of the schema. */
  readonly key: string;
  readonly schema: Json;
  readonly path: string;
  readonly done: (refusal?: GrammarRefusal) => void;
}

interface Grammar {
  /** The caller for whom it is compiled. */
  readonly caller: string;
  readonly thread: Worker;
  readonly timer: NodeJS.Timeout;
  readonly path: string;
  /** The callbacks of the calls that use it. */
  readonly calls: Map<number, (refusal?: GrammarRefusal) => void>;
  readonly memories: Map<number, MaskMemory>;
  compiled: boolean;
}

export class Grammars {
  /** By the digest of the schema. The most recently used is the last. */
  private readonly grammars = new Map<string, Grammar>();
  private readonly ofCalls = new Map<number, string>();
  /** Calls that wait for a place, in order of arrival. */
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly tokens: Tokens) {}

  /** Calls `done` once the call may be generated in this form, or with why it may not; never after `release`. */
  prepare(call: number, caller: string, format: ResponseFormat, done: Waiting['done']): void {
    const [schema, path]: [Json, string] =
      format.type === 'json_object' ? [{ type: 'object' }, 'response_format'] : [format.schema, SCHEMA];
    // The order of properties matters, so the text is not canonical.
    const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
    this.waiting.set(call, { caller, key, schema, path, done });
    this.advance();
  }

  /** Gives places to the calls that wait. */
  private advance(): void {
    for (const [call, waiting] of [...this.waiting]) if (this.place(call, waiting)) this.waiting.delete(call);
  }

  /** Returns false if the call has to wait. */
  private place(call: number, { caller, key, schema, path, done }: Waiting): boolean {
    const grammar = this.grammars.get(key) ?? this.start(key, caller, schema, path);
    if (!grammar) return false;
    this.grammars.delete(key);
    this.grammars.set(key, grammar);
    this.ofCalls.set(call, key);
    grammar.calls.set(call, done);
    if (grammar.compiled) done();
    return true;
  }

  /** Returns what the decoder needs to keep the call to its grammar; undefined for a call without one, null if it died. */
  open(call: number): SequenceOrder | null | undefined {
    const key = this.ofCalls.get(call);
    if (key === undefined) return undefined;
    const grammar = this.grammars.get(key);
    if (!grammar?.compiled) return null;
    const { port1, port2 } = new MessageChannel();
    const memory = maskMemory(this.tokens.pieces.length);
    grammar.memories.set(call, memory);
    grammar.thread.postMessage({ path: grammar.path, memory, port: port1 } satisfies SequenceOrder, [port1]);
    return { path: grammar.path, memory, port: port2 };
  }

  /**
   * Ends the compilation of a grammar that no other call waits for. Keeps a compiled one after a completed call only,
   * because its thread may be at a slow mask after another. Does nothing for a call without a grammar.
   */
  release(call: number, completed: boolean): void {
    this.waiting.delete(call);
    const key = this.ofCalls.get(call);
    if (key === undefined) return;
    this.ofCalls.delete(call);
    const grammar = this.grammars.get(key);
    grammar?.calls.delete(call);
    grammar?.memories.delete(call);
    if (grammar?.calls.size === 0 && !(grammar.compiled && completed)) this.remove(key);
    this.advance();
  }

  /** Returns null if there is no place for it now. */
  private start(key: string, caller: string, schema: Json, path: string): Grammar | null {
    const compiling = [...this.grammars.values()].filter(({ compiled }) => !compiled);
    if (compiling.length >= MAX_COMPILING || compiling.some((other) => other.caller === caller)) return null;
    const own = [...this.grammars.values()].filter((other) => other.caller === caller && other.calls.size > 0);
    if (own.length >= MAX_OF_CALLER) return null;
    if (this.grammars.size >= MAX_GRAMMARS) {
      const idle = [...this.grammars].find(([, { calls }]) => calls.size === 0);
      if (!idle) return null;
      this.remove(idle[0]);
    }
    const workerData: GrammarSource = { ...this.tokens, schema, path };
    const thread = new Worker(join(__dirname, 'grammar-thread.js'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
      // XGrammar writes about schemas, which are private.
      stdout: true,
      stderr: true,
    });
    thread.stdout.resume();
    thread.stderr.resume();
    const refuse = (message: string, at = path) => this.fail(key, grammar, message, at);
    const text = JSON.stringify(schema);
    const costly = COSTLY.filter((keyword) => text.includes(`"${keyword}":`));
    const tooComplex = `could not be compiled: make it smaller, above all its ${costly.join(', ') || 'type'}`;
    const timer = setTimeout(() => refuse(`${tooComplex} (after ${COMPILE_MS / 1_000} s)`), COMPILE_MS);
    const grammar: Grammar = {
      caller,
      thread,
      timer,
      path,
      calls: new Map(),
      memories: new Map(),
      compiled: false,
    };
    thread.on('message', (report: GrammarReport) => {
      if (report.type === 'refused') refuse(report.message, report.path);
      else if (this.grammars.get(key) === grammar) {
        clearTimeout(timer);
        grammar.compiled = true;
        for (const done of grammar.calls.values()) done();
        this.advance();
      }
    });
    for (const end of ['error', 'exit']) thread.on(end, () => refuse(tooComplex));
    this.grammars.set(key, grammar);
    // The other calls of the caller wait behind those of others.
    for (const [call, other] of [...this.waiting])
      if (other.caller === caller && this.waiting.delete(call)) this.waiting.set(call, other);
    return grammar;
  }

  /** Refuses the calls that wait for the grammar, and ends those that are generated. */
  private fail(key: string, grammar: Grammar, message: string, path: string): void {
    if (this.grammars.get(key) !== grammar) return;
    this.remove(key);
    for (const memory of grammar.memories.values()) writeFailure(memory);
    if (!grammar.compiled) for (const [call, done] of grammar.calls) done({ type: 'refused', call, path, message });
    this.advance();
  }

  private remove(key: string): void {
    const grammar = this.grammars.get(key);
    this.grammars.delete(key);
    clearTimeout(grammar?.timer);
    void grammar?.thread.terminate();
  }
}
